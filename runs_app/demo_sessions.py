"""The conversations that a new installation starts with: what is said, in which language."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Ending(StrEnum):
    """What becomes of the last message of a conversation."""

    AS_IT_GOES = "as it goes"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class DemoSession:
    """One session of the demo: its messages are really run, nothing of it is made up."""

    session_id: str
    user_id: str | None
    messages: tuple[str, ...]
    ending: Ending = Ending.AS_IT_GOES
    approve: bool = False
    """Whether the first question is approved before the next message."""
    operations: tuple[dict[str, Any], ...] = ()
    """What an administrator changes afterwards."""
    reason: str = ""
    said: str = field(default="")
    """The message that comes with an interrupt."""


def _long() -> tuple[str, ...]:
    """A conversation of more than two hundred messages."""
    lines: list[str] = []
    for shelf in range(1, 53):
        lines.append(f"/echo Shelf {shelf}: counted, {shelf * 7 % 31 + 4} boxes.")
        lines.append(f"Shelf {shelf} looks complete. Go on with shelf {shelf + 1}.")
    return (*lines, '/tool calculator {"expression": "52 * 19"}', "/count")


SESSIONS = (
    DemoSession(
        "office-supplies",
        "ada",
        (
            "/echo Good morning! I can compute, read files and order supplies.",
            '/tool calculator {"expression": "(4 + 3) * 12.5"}',
            '/tool create_order {"sku": "notebook A5", "quantity": 12}',
            "/think The order is placed, so only the thanks are left.",
        ),
        approve=True,
        operations=(
            {
                "op": "add_rule",
                "behavior": "deny",
                "tool_name": "write_file",
                "rule_content": None,
                "source": "operator",
            },
        ),
        reason="This desk orders things; it has no business writing files.",
    ),
    DemoSession(
        "tea-kitchen",
        "grace",
        (
            "We are out of green tea.",
            '/tool create_order {"sku": "green tea", "quantity": 3}',
        ),
    ),
    DemoSession(
        "quarterly-report",
        "linus",
        ("/echo I will write the report section by section.", "/slow 400 25"),
        ending=Ending.INTERRUPTED,
        said="Stop here, the numbers of last week are missing.",
    ),
    DemoSession(
        "weather-station",
        None,
        ("/fail transient 2", "/fail permanent"),
    ),
    DemoSession("stocktaking", "ada", _long()),
    DemoSession(
        "客服-订单查询",
        "王小明",
        (
            "/echo 您好！请告诉我订单号，我马上为您查询。",
            '/tool calculator {"expression": "128 * 3"}',
            "订单一共三件，合计三百八十四元，对吗？",
            '/tool ask_user {"question": "货物发往哪个仓库？", "choices": ["上海", "成都"]}',
        ),
    ),
    DemoSession(
        "翻译助手",
        "李华",
        ("/echo 好的，这句话的意思是：明天下午三点开会。", "/count", "/recall"),
    ),
    DemoSession(
        "مكتب-المساعدة",
        "ليلى",
        (
            "/echo أهلاً بك! كيف يمكنني مساعدتك اليوم؟",
            "أريد طلب عشر علب من القهوة.",
            '/tool create_order {"sku": "قهوة عربية", "quantity": 10}',
        ),
    ),
    DemoSession(
        "ملخص-الاجتماع",
        "يوسف",
        ("/echo هذا ملخص الاجتماع: ثلاثة قرارات ومهمتان.", "/count"),
    ),
)
