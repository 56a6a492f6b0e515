ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:patch new.txt
  started: id=True model='gpt-5.5' version='0.171.0'
  tool ll_5_0: edit '$CWD/new.txt'
  asks: 'edit: add $CWD/new.txt' 'add $CWD/new.txt\nhello from stub\n' Allow once [allow_once], Allow exactly this in this session [allow_always], Deny [reject_once]
  answered: Deny
  tool ll_5_0 failed: 'declined'
  text: 'TOOL-RESULT: patch rejected by user'
  usage: (211, 14, 258400, 113) None
  finished
