ready: resumed=False version='1.6.0' model='stub/stub-model' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:err=413
  started: id=True model='stub/stub-model' version='1.6.0'
  failed: context: The conversation is too long for the model (413: stub error 413). (session lost)
