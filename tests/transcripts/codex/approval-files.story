ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:patch new.txt
  started: id=True model='gpt-5.5' version='0.171.0'
  tool ll_3_0: edit '$CWD/new.txt'
  asks: 'edit: add $CWD/new.txt' 'add $CWD/new.txt\nhello from stub\n' Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Allow once
  tool ll_3_0 ok: 'add $CWD/new.txt\nhello from stub\n'
  text: 'TOOL-RESULT: Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA new.txt'
  usage: (207, 14, 258400, 111) None
  finished
