ready: resumed=True version='Copilot 1.0.102' model='' id=True
> what word
  started: id=True model='' version='Copilot 1.0.102'
  text: 'echo: gresses\n\nplan.md is the human-readable source of truth. SQL provides queryable structure for execution.\n</plan_mode>\n\n</mode_changed_notice>\n\n[[PLAN]] what word'
  usage: (None, None, 128000, 9563) None
  finished
skipped: an answer to nothing that was asked
