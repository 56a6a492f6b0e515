lost: login: The agent is not logged in, or its login expired (Authentication required: Call authenticate before starting a session).
