skipped: an answer to nothing that was asked
ready: resumed=True version='0.171.0' model='gpt-5.5' id=True
skipped: notification 'thread/goal/cleared'
> third message
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'OK 3: third message'
  usage: (103, 7, 258400, 110) None
  finished
skipped: an answer to nothing that was asked
skipped: notification 'thread/reverted'
outside a turn: Compacted
> after inject
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'OK 6: after inject'
  usage: (106, 7, 258400, 113) None
  finished
skipped: notification 'thread/archived'
skipped: notification 'thread/deleted'
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
