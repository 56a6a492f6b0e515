lost: login: The agent is not logged in, or its login expired (it has no model to work with: run 'pi' and /login, or give it a key).
