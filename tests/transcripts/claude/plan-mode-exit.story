ready: resumed=False version='' model='' id=False
> STUB:tool=ExitPlanMode {"plan":"1. do it"};;
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'I will call a tool. '
  tool b00418: ExitPlanMode ''
  asks: 'Is this plan good?' '1. do it' Allow once [allow_once], Deny [reject_once]
  answered: Allow once
  tool b00418 ok: 'User has approved exiting plan mode. You can now proceed.'
  text: '\n\ntool said: User has approved exiting plan mode. You can now proceed.'
  usage: (49143, 24, 200000, 24645) 0.147789
  finished
