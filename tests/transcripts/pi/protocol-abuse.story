ready: resumed=False version='' model='stub/stub-model' id=True
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
unsolicited: 'OK 1: '
skipped: an answer to nothing that was asked
unsolicited: 'OK 2: lone surrogate'
skipped: type 'bash_execution_update'
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
