"""The open task: what was asked, what it works on, what that replaced, notes; and results that go on.

Stands before every message while a task is open, so that no compaction takes it away.
"""

from kai.context import neutral
from kai.context.draft import Draft, Item
from kai.context.fences import close_code, fence_id, fenced
from kai.context.sections.privacy import has_tool
from kai.model.context import Facts, Verdict
from kai.model.work import Result, TaskItem

_NAME = "work"
NOTES = 12  # newest ones; requirements and inputs always all
_NOTE_CHARS, _ITEM_CHARS = 500, 2_000


def draft(facts: Facts) -> Draft | None:
    if facts.task is None and not facts.results:
        return None
    by_id = {item.item: item for item in facts.task.items} if facts.task else {}
    return Draft(
        _NAME, (*_task(facts, by_id), *(_result(facts, one, by_id) for one in facts.results)), required=bool(facts.task)
    )


def _task(facts: Facts, by_id: dict[str, TaskItem]) -> list[Item]:
    task = facts.task
    if task is None:
        return []
    notes = [item.item for item in task.items if item.kind == "note"]
    left_out = set(notes[:-NOTES])
    replaced: dict[str | None, str] = {item.replaces: item.item for item in task.items if item.replaces}
    shown = [item for item in task.items if item.item not in left_out and item.status != "withdrawn"]
    fence = fence_id(facts.fence_seed + _NAME)
    body = close_code("\n".join(neutral.data(_line(item, replaced)) for item in shown))
    more = f" {len(left_out)} older notes: task_show." if left_out and has_tool(facts, "task_show") else ""
    head = (
        f"[Task {task.task}, {task.status}: {neutral.line(task.title, 200)}. Requirements, restrictions and active "
        f"inputs hold; what is HISTORICAL was replaced and is no ground any more; notes are an agent's own view.{more}]"
    )
    items = [Item("task", task.task, f"{head}\n{fenced(fence, 'task', body)}" if shown else head, required=True)]
    items += [Item(f"task_{one.kind}", one.item, "", required=True) for one in shown]
    items += [Item("task_note", one, verdict=Verdict.OMITTED_BOUNDS) for one in notes if one in left_out]
    return items


def _line(item: TaskItem, replaced: dict[str | None, str]) -> str:
    label = item.kind if item.kind != "input" else f"input {'ACTIVE' if item.status == 'active' else 'HISTORICAL'}"
    if item.item in replaced:
        label += f", replaced by {replaced[item.item]}"
    elif item.replaces:
        label += f", in place of {item.replaces}"
    text = " ".join(item.text.split())
    most = _NOTE_CHARS if item.kind == "note" else _ITEM_CHARS
    cut = f"{text[:most]}… (cut: task_show has it whole)" if len(text) > most else text
    return f"{item.item} {label}: {cut}"


def _result(facts: Facts, one: Result, by_id: dict[str, TaskItem]) -> Item:
    read = ", read on with result_read" if has_tool(facts, "result_read") else ""
    old = [name for name in one.inputs if name in by_id and by_id[name].status != "active"]
    label = f"; made from {', '.join(old)}, which is HISTORICAL" if old else ""
    text = (
        f"[Result {one.ref}: {one.returned} of {one.total} {one.unit} told{read}; {neutral.line(one.producer, 60)}: "
        f'"{neutral.line(one.source, 120)}", as of {one.as_of:%Y-%m-%d %H:%M} UTC{label}]'
    )
    return Item("result", one.ref, text, required=bool(old))
