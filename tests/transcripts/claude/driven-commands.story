ready: resumed=False version='2.1.332' model='' id=False
> hello
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'echo: hello'
  usage: (23211, 2, 200000, 23211) 0.069663
  finished
> STUB:drop
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'partial one partial two '
  limit: The provider did not answer (unknown); try 1 of 2.
  text: '\n\npartial one partial two \n\npartial one partial two '
  limit: The provider did not answer (unknown); try 1 of 2.
  text: '\n\npartial one partial two '
  usage: (139795, 38, 200000, 23320) 0.419955
  failed: provider: The provider did not give an answer (its answer broke off).
> /context
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: '## Context Usage\n\n**Model:** claude-sonnet-4-5  \n**Tokens:** 23.3k / 200k (12%)\n\n### Estimated usage by category\n\n| Category | Tokens | Percentage |\n|----------|--------|------------|\n| System prompt | 7.4k | 3.7% |\n| System tools | 11.2k | 5.6% |\n| System tools (deferred) | 5.4k | 2.7% |\n| Skills |'
  finished
> /compact
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'Error during compaction: summarization produced empty response'
  usage: (74853, 19, 200000, 23320) 0.224844
  finished
> /clear
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  compacted
  finished
