ready: resumed=False version='cline 3.0.65' model='anthropic/claude-sonnet-5' id=True
> first STUB:slow=8
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
skipped: an answer to nothing that was asked
  text: 'chunk0 chunk1 chunk2 chunk3 chunk4 chunk5 chunk6 chunk7 '
  finished
unsolicited: 'echo: second while runni'
unsolicited: 'ng'
