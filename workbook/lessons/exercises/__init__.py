"""Exercises: the learner answers, and a judge that plays the answer says *not yet* with a reason, or *done*.

    wb.exercise("05.1", MyHandler)

How to write one, for lesson 05:

1. Describe it in `lesson_05.toml`; the fields are those of `model.Exercise`. `kind` is `predict` (commit to an answer
   before the run is shown), `find` (name a cause), `fix` (repair code) or `write` (code, or the order of its
   lines). `task` is Markdown, `skeleton` and `solution` are whole cells that use only `wb` and what they define
   themselves, and end in the line `wb.exercise("05.1", ...)`.
   An answer that is still the skeleton's is recognised: write `...` where the learner writes.
   Give three hints, from a nudge to nearly the answer, `notes` for the instructor, and `minutes`.
2. Questions with a fixed choice of answers are `asks`. Each has its question, then its choices: a wrong one with a rule
   (or "") and the reason why it is wrong, the right one alone. The lesson shows them as a table below the task, unless
   the task says it all and the questions are "". The learner answers by name: `wb.exercise("06.1", added=...)`.

       [exercise.asks]
       added = ["is the card in the wallet?", [true, "REL-1", "The answer to the POST is lost, so ..."], [false]]

3. Write the judge in `judges_wallet.py`, and name it in `judge`, as `wallet.late_status`. A judge plays something and
   looks at the trace; it never compares text or source. For `asks` it takes nothing, and returns `Observed(run,
   added=run.added, ...)`: the truth comes from the run, and a test compares it with the right choices. For code it
   takes the learner's object and returns a `Reason(rule, sentence)` where something is wrong, else `Observed(run)`.
   `first_finding(run)` is the reason that the checks give. `wb.exercise` refuses an answer that has another signature
   than the solution. Whatever a judge raises becomes a reason that shows the learner's own line; an endless loop ends
   after 10 s. No judge needs a `try`.
4. A reason is one or two sentences: what *this* answer did, in the past tense, with the value or the time, then what
   must be. It names one rule; the rule's own sentence is added. Two different mistakes get two different reasons.
5. Collect ten typical wrong first answers in `[[exercise.mistakes]]`: `what` in a few words, `says` (the reason as it
   is shown, with its rule: "X-STATUS-3: ..."), and the answer: `old` and `new` (text to replace in the solution), or
   `answer` (what stands in the parentheses after the id), or `cell` (a whole cell). The tests prove for every
   exercise: solution done, skeleton not yet, each mistake its own reason.
6. In the notebook of `notebooks/`, add a Markdown cell with the id `task-05-1` and a code cell with the id
   `exercise-05-1`. `workbook render` fills in both, and proves the skeleton (*not yet*) and the solution (*done*).
   A new lesson's first cell says **Time:**, and its metadata have `teaches`, in a few words. From these
   `WORKBOOK_GOLDEN=write pytest tests/test_readme.py` writes the rows of README's table.
   A cell with the tag `answer` is one whose stored output gives an answer away: a learner's copy has it without output.

`editions` makes the learner's, the solved and the instructor's edition from the notebooks, and keeps how far each
exercise of a copy is.
"""
