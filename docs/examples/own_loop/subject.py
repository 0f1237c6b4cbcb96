"""The loop as a subject for the command line: ``harness run scenarios --subject subject:my_loop``."""

from myapp import registry, run_agent

from harness.testing import subject

my_loop = subject(lambda env: run_agent(env.task, client=env.openai(), tools=env.wrap(registry)))
