lost: resume: The agent could not take up its session again (Internal error: Invalid session identifier "57651ff7-0b4c-4cc7-af95-38b0ac30ab5a". Searched for sessions in $HOME/.gemini/tmp/gemini/chats. Use --list-sessions to see available sessions, then use --resume {number}, --resume {uuid}, or --resume latest).
> what word
  started: id=False model='' version=''
  failed: resume: The agent could not take up its session again (Session not found: 57651ff7-0b4c-4cc7-af95-38b0ac30ab5a). (session lost)
skipped: an answer to nothing that was asked
