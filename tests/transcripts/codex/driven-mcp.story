ready: resumed=False version='0.171.0' model='gpt-6.2-sol' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:tool=functions/exec {"freeform": "c
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  tool e79c9b: x.remember 'q'
  asks: 'Allow the x MCP server to run tool "remember"?' 'query: q' Allow once [allow_once], Allow this tool in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool e79c9b ok: 'remembered {"query": "q"}'
  text: 'tool said: Script completed\nWall time 0.1 seconds\nOutput:\n\n{"content":[{"type":"text","text":"remembered {\\"query\\": \\"q\\"}"}]}'
  usage: (31732, 14, 475000, 15941) None
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:tool=functions/exec {"freeform": "c
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  tool 01b7b6: x.remember 'q'
  asks: 'Allow the x MCP server to run tool "remember"?' 'query: q' Allow once [allow_once], Allow this tool in this session [allow_always], Deny [reject_once]
  answered: denied
  tool 01b7b6 failed: 'user rejected MCP tool call'
  text: 'tool said: Script completed\nWall time 0.0 seconds\nOutput:\n\n{"content":[{"type":"text","text":"user rejected MCP tool call"}],"isError":true}'
  usage: (32318, 14, 475000, 16234) None
  finished
