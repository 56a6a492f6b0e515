"""Chinese and Japanese are found by their words: twelve questions each, among two hundred other records."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kai.memory.retrieval import StoreRetriever
from kai.store import words
from tests.memory.place import Remembered, remembered

CHINESE = (
    ("备用钥匙在蓝色花盆下面", "备用钥匙放在哪里?"),
    ("水表的号码是四七一一", "我们家水表的号码是多少?"),
    ("医生的预约在星期四下午三点", "医生预约是什么时候?"),
    ("小丽对花生过敏", "谁对花生过敏?"),
    ("无线网络的密码写在冰箱上", "无线网络密码在哪儿?"),
    ("汽车停在教堂后面", "汽车停在什么地方?"),
    ("猫的名字叫雪球", "我的猫叫什么名字?"),
    ("房租每个月五号支付", "房租几号要支付?"),
    ("爷爷的生日是十月二日", "爷爷生日是哪一天?"),
    ("洗衣机的保修期到明年春天", "洗衣机保修到什么时候?"),
    ("垃圾车星期二早上来", "垃圾车哪天来?"),
    ("护照放在书房的抽屉里", "护照在哪个抽屉?"),
)
JAPANESE = (
    ("予備の鍵は青い植木鉢の下にある", "予備の鍵はどこ?"),
    ("水道メーターの番号は4711です", "水道メーターの番号は何番?"),
    ("歯医者の予約は木曜日の三時です", "歯医者の予約はいつ?"),
    ("花子はピーナッツにアレルギーがある", "ピーナッツにアレルギーがあるのは誰?"),
    ("無線のパスワードは冷蔵庫に貼ってある", "パスワードはどこに貼ってある?"),
    ("車は教会の裏に停めた", "車はどこに停めた?"),
    ("猫の名前は雪玉です", "猫の名前は何ですか?"),
    ("家賃は毎月五日に払う", "家賃はいつ払う?"),
    ("祖父の誕生日は十月二日です", "祖父の誕生日はいつですか?"),
    ("洗濯機の保証は来年の春まで", "洗濯機の保証はいつまで?"),
    ("燃えるゴミは火曜日の朝に出す", "燃えるゴミは何曜日?"),
    ("パスポートは書斎の引き出しに入れた", "パスポートはどの引き出し?"),
)
OTHERS = {
    "Chinese": (
        "昨天我们去公园散步",
        "晚饭吃了面条和青菜",
        "孩子们在学校画画",
        "邻居送来一盒点心",
        "下雨了所以没有出门",
    ),
    "Japanese": (
        "昨日は公園を散歩した",
        "夕食に麺と野菜を食べた",
        "子供たちは学校で絵を描いた",
        "隣の人が菓子を持ってきた",
        "雨なので出かけなかった",
    ),
}


async def first_of_twelve(ann: Remembered, language: str) -> int:
    """How many of the questions have their fact in the first place."""
    pairs = CHINESE if language == "Chinese" else JAPANESE
    for number in range(188):
        await ann.save(f"{OTHERS[language][number % 5]} {number}")
    for fact, _ in pairs:
        await ann.save(fact)
    ann.retriever = StoreRetriever(ann.store, ann.retriever.clock)
    return sum([(await ann.find(question))[:1] == [fact] for fact, question in pairs])


@pytest.mark.parametrize("language", ["Chinese", "Japanese"])
async def test_all_twelve_questions_are_answered_by_the_first_record(tmp_path: Path, language: str) -> None:
    async with remembered(tmp_path) as ann:
        assert await first_of_twelve(ann, language) == 12


@pytest.mark.parametrize("language", ["Chinese", "Japanese"])
async def test_words_that_are_cut_at_spaces_alone_answer_hardly_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    """The control: what makes the difference is how a language without spaces is cut."""

    def cut(text: str, *, query: bool = False) -> Iterator[str]:
        yield from re.findall(r"\w+", text)

    monkeypatch.setattr(words, "tokens", cut)
    async with remembered(tmp_path) as ann:
        assert await first_of_twelve(ann, language) <= 2
