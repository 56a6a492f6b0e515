ready: resumed=False version='' model='' id=False
> hello
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'echo: hello'
  usage: (22114, 2, 200000, 22114) 0.066372
  finished
> /context
  started: id=True model='claude-sonnet-4-5' version=''
  text: '## Context Usage\n\n**Model:** claude-sonnet-4-5  \n**Tokens:** 22.1k / 200k (11%)\n\n### Estimated usage by category\n\n| Category | Tokens | Percentage |\n|----------|--------|------------|\n| System prompt | 7.4k | 3.7% |\n| System tools | 10.2k | 5.1% |\n| System tools (deferred) | 4.7k | 2.3% |\n| Skills |'
  finished
> /model claude-haiku-4-5
  started: id=True model='claude-sonnet-4-5' version=''
  text: 'Set model to `Haiku 4.5` for this session only'
  finished
> /compact
  started: id=True model='claude-haiku-4-5' version=''
  compacted
  usage: (48621, 82, 200000, 22114) 0.049031
  finished
> /clear
  started: id=True model='claude-haiku-4-5' version=''
  compacted
  finished
> after clear
  started: id=True model='claude-haiku-4-5' version=''
  text: 'echo: name>\n            <command-message>clear</command-message>\n            <command-args></command-args>\n\n<local-command-stdout></local-command-stdout>\n\nafter clear'
  usage: (22237, 41, 200000, 22237) 0.022442
  finished
