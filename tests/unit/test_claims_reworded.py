"""True sentences in a strong model's words: code may leave them open, and never fails them."""

from dataclasses import replace

import pytest

from graph.ports import WrittenSection
from tests.fakes import segment
from tools.claims.code_checker import check_section

REWORDED = [
    ("The museum is not open on Mondays or public holidays.", "The museum is closed on Mondays and public holidays."),
    ("The museum is not open on Mondays.", "The museum is closed on Mondays."),
    ("The museum is closed on Mondays.", "The museum is not open on Mondays."),
    ("The shop stays open until 21:00 on Fridays.", "The shop does not close before 9 pm on Fridays."),
    (
        "The shop opens at 9:00 and closes at 18:30 every weekday.",
        "The shop opens at 9 am and closes at 6:30 pm every weekday.",
    ),
    ("The train leaves Lyon at 14:05 from platform 3.", "The train leaves Lyon at 2:05 pm from platform 3."),
    (
        "Anna Berg was born in 1954 in Turin and moved to Paris in 1980.",
        "Anna Berg was born in the 1950s in Turin and moved to Paris in 1980.",
    ),
    ("In 2009 Barack Obama signed the act in Washington.", "In 2009 President Obama signed the act in Washington."),
    ("Marta Kovacs led the Hungarian delegation in Geneva.", "Dr. Kovacs led the Hungarian delegation in Geneva."),
    ("The French team won the cup in Madrid in 1998.", "France won the cup in Madrid in 1998."),
    ("The population of the town was 1,345,595 in 2010.", "The population of the town was about 1.3 million in 2010."),
    (
        "The population of the town was 1,345,595 in 2010.",
        "The population of the town was more than a million in 2010.",
    ),
    ("The population of the town was 48,211 in 2010.", "The population of the town was nearly 50,000 in 2010."),
    ("The dam is 152 metres high and 1,200 metres long.", "The dam is over 150 metres high and 1,200 metres long."),
    (
        "The company employs 12,430 people in nine countries.",
        "The company employs more than 12,000 people in nine countries.",
    ),
    (
        "Sales fell from 120 million to 90 million euros in 2020.",
        "Sales fell by 30 million euros in 2020, from 120 million to 90 million.",
    ),
    (
        "Sales fell from 120 million to 90 million euros in 2020.",
        "Sales in 2020 fell by a quarter, to 90 million euros.",
    ),
    ("The loan runs for 24 months at a rate of 5 percent.", "The loan runs for two years at a rate of 5 percent."),
    (
        "The hike takes 90 minutes from the car park to the hut.",
        "The hike takes an hour and a half from the car park to the hut.",
    ),
    (
        "Adults pay 12 euros per visit. Children under 14 get in for half the price.",
        "Children under 14 pay 6 euros per visit.",
    ),
    (
        "The Basic plan includes 10 GB of storage for 5 euros a month. "
        "For the Pro plan, storage is 50 GB and the price 20 euros.",
        "The Pro plan includes 50 GB of storage for 20 euros a month.",
    ),
    ("All staff get 25 days of annual leave.", "Some staff get 25 days of annual leave."),
    ("All full-time staff get 25 days of annual leave.", "Full-time staff always get 25 days of annual leave."),
    ("Most members voted for the plan in March.", "Few members voted against the plan in March."),
    ("Beta Ltd is smaller than Alpha Corp.", "Alpha Corp is larger than Beta Ltd."),
    ("Anna arrived before Ben at the station.", "Ben arrived after Anna at the station."),
    ("The treaty was signed before the election was held.", "The election was held after the treaty was signed."),
    ("Denver defeated Carolina in the final in 2016.", "Carolina lost the final to Denver in 2016."),
    ("The lake lies 20 km north of Karlstad.", "Karlstad lies 20 km south of the lake."),
    ("It is not permitted to smoke in the hall.", "Smoking is forbidden in the hall."),
    ("Smoking is not allowed in the hall.", "Smoking is prohibited in the hall."),
    ("The request was not accepted by the board.", "The request was rejected by the board."),
    ("The request was rejected by the board in May.", "The request was not accepted by the board in May."),
    ("The bridge failed to open in 1990.", "The bridge did not open in 1990."),
    ("The password never expires.", "The password does not expire."),
    ("The setting is not disabled by default in version 3.", "The setting is enabled by default in version 3."),
    ("The setting is disabled by default in version 3.", "The setting is not enabled by default in version 3."),
    ("The drug is not unsafe for children.", "The drug is safe for children."),
    ("Without a permit, no one may enter the reserve.", "Everyone needs a permit to enter the reserve."),
    ("The United States Geological Survey published the map in 1965.", "The USGS published the map in 1965."),
    (
        "The World Health Organization declared the end of the outbreak in June.",
        "The WHO declared the end of the outbreak in June.",
    ),
    ("Kim Corporation opened its Hanoi plant in 2019.", "Kim Corp. opened its Hanoi plant in 2019."),
    (
        "The king visited Norway in June 1905 with his two sons.",
        "King Oscar visited Norway in June 1905 with his two sons.",
    ),
    ("The vote was held on 5 March 2020 in Oslo.", "The vote was held in early March 2020 in Oslo."),
    ("The vote was held on 5 March 2020 in Oslo.", "The vote was held in spring 2020 in Oslo."),
    (
        "The building burned down in 1871 and was rebuilt in 1880.",
        "The building was rebuilt nine years after it burned down in 1871.",
    ),
    ("The tower, 93 m tall, was finished in 1889.", "Finished in 1889, the tower is 93 metres tall."),
    ("Water boils at 100 degrees Celsius at sea level.", "At sea level, water boils at 212 degrees Fahrenheit."),
    ("The package weighs 2.2 pounds.", "The package weighs about one kilogram."),
    (
        "The fine is 50 euros for the first offence and 100 euros for the second.",
        "The fine is 100 euros for the second offence.",
    ),
    (
        "The fine is 50 euros for the first offence and 100 euros for the second.",
        "For a second offence the fine doubles to 100 euros.",
    ),
    ("The first edition appeared in 1859, the second in 1860.", "The second edition appeared in 1860."),
    ("The office in Hanoi opened in 2018, that in Hue in 2020.", "The office in Hue opened in 2020."),
    ("Anna Berg manages the Turin office; Ben Ito manages the Lyon office.", "Ben Ito manages the Lyon office."),
    ("The council has 25 members, 13 of whom are women.", "Just over half of the council's 25 members are women."),
    ("One in four students receives a grant.", "25 percent of students receive a grant."),
    ("Two thirds of the budget goes to research.", "67% of the budget goes to research."),
    ("The file can be up to 20 MB in size.", "Files larger than 20 MB are not accepted."),
    ("The minimum deposit is 500 dollars.", "The deposit is at least 500 dollars."),
    ("A deposit of at least 500 dollars is required.", "Less than 500 dollars is not enough as a deposit."),
    ("No fewer than 300 people attended the meeting in Leeds.", "At least 300 people attended the meeting in Leeds."),
    ("The river is the second longest in Europe.", "Only one river in Europe is longer."),
    ("The 19th-century mill stands on the Tarn.", "The mill on the Tarn dates from the 1800s."),
    (
        "The reactor was shut down in March 1986 for repairs.",
        "The reactor was not running in March 1986 because of repairs.",
    ),
    ("Use the --force option to overwrite existing files.", "Existing files are overwritten with the --force option."),
    (
        "Use the --force option to overwrite existing files.",
        "Without the --force option, existing files are not overwritten.",
    ),
    (
        "The default timeout is 30 seconds; set it to 0 to disable it.",
        "A timeout of 0 disables it; the default is 30 seconds.",
    ),
    ("Since version 2.3 the flag is ignored.", "The flag has no effect since version 2.3."),
    ("The Spanish king abdicated in June 2014.", "The king of Spain abdicated in June 2014."),
    ("Dutch engineers built the dyke in 1932.", "Engineers from the Netherlands built the dyke in 1932."),
    ("Turkish exports to Iran rose in 2019.", "Turkey's exports to Iran rose in 2019."),
    ("Swiss banks froze the accounts in 1997.", "Banks in Switzerland froze the accounts in 1997."),
    ("The British parliament passed the act in 1832.", "The UK parliament passed the act in 1832."),
    ("Prof. Ito of Kyoto University found the comet in 1999.", "Hiroshi Ito found the comet in 1999."),
    ("St. Mary's Church was built in 1320.", "Saint Mary's Church was built in 1320."),
    ("Mount Kilroy rises to 4,321 m.", "Mt. Kilroy is 4,321 metres high."),
    ("Only members may vote at the meeting.", "Non-members may not vote at the meeting."),
    ("The plan covers everything except dental care.", "The plan does not cover dental care."),
    ("Visitors must not feed the animals in the park.", "Feeding the animals in the park is not allowed."),
    ("Bảo tàng không mở cửa vào thứ hai.", "Bảo tàng đóng cửa vào thứ hai."),
    ("Bảo tàng đóng cửa vào thứ hai.", "Bảo tàng không mở cửa vào thứ hai."),
    ("Nhân viên không được phép hút thuốc trong hội trường.", "Nhân viên bị cấm hút thuốc trong hội trường."),
    ("Thành phố có 1.345.595 người vào năm 2010.", "Thành phố có khoảng 1,3 triệu người vào năm 2010."),
    ("Thành phố có 1.345.595 người vào năm 2010.", "Thành phố có hơn một triệu người vào năm 2010."),
    ("Ông Nguyễn Văn An điều hành công ty từ năm 2005.", "Giám đốc Nguyễn Văn An điều hành công ty từ năm 2005."),
    (
        "Cửa hàng mở cửa lúc 9:00 và đóng cửa lúc 18:30 mỗi ngày.",
        "Cửa hàng mở cửa lúc 9 giờ sáng và đóng cửa lúc 6 giờ 30 chiều mỗi ngày.",
    ),
    ("Khoản vay kéo dài 24 tháng với lãi suất 5 phần trăm.", "Khoản vay kéo dài hai năm với lãi suất 5%."),
    ("Đội tuyển Pháp vô địch tại Madrid năm 1998.", "Pháp vô địch tại Madrid năm 1998."),
    ("Tất cả khách phải đeo thẻ khi vào tòa nhà.", "Khách nào cũng phải đeo thẻ khi vào tòa nhà."),
    ("Tất cả khách phải đeo thẻ khi vào tòa nhà.", "Không khách nào được vào tòa nhà mà không đeo thẻ."),
    ("Alpha lớn hơn Beta về doanh thu năm 2020.", "Beta nhỏ hơn Alpha về doanh thu năm 2020."),
    ("Hiệp ước được ký trước cuộc bầu cử năm 1990.", "Cuộc bầu cử năm 1990 diễn ra sau khi hiệp ước được ký."),
    ("Bà sinh năm 1954 tại Huế.", "Bà sinh vào những năm 1950 tại Huế."),
    (
        "Tính năng này bị tắt theo mặc định trong phiên bản 3.",
        "Tính năng này không được bật theo mặc định trong phiên bản 3.",
    ),
    ("Lệnh này không xóa tập tin.", "Lệnh này giữ lại tập tin."),
    ("博物馆周一不开放。", "博物馆周一闭馆。"),
    ("博物馆周一闭馆。", "博物馆周一不开放。"),
    ("大厅内不允许吸烟。", "大厅内禁止吸烟。"),
    ("大厅内禁止吸烟。", "大厅内不允许吸烟。"),
    ("该市2010年人口为1345595人。", "该市2010年人口约为130万。"),
    ("该市2010年人口为1345595人。", "该市2010年人口超过100万。"),
    ("王伟于1954年出生在南京。", "王伟出生于20世纪50年代，出生地是南京。"),
    ("法国队1998年在马德里夺冠。", "法国1998年在马德里夺冠。"),
    ("奥巴马于2009年签署了该法案。", "美国总统奥巴马于2009年签署了该法案。"),
    ("商店每天9:00开门，18:30关门。", "商店每天上午9点开门，下午6点半关门。"),
    ("贷款期限为24个月，利率为5%。", "贷款期限为两年，利率为5%。"),
    ("阿尔法公司比贝塔公司大。", "贝塔公司比阿尔法公司小。"),
    ("条约在选举之前签署。", "选举在条约签署之后举行。"),
    ("所有访客必须佩戴胸牌。", "每位访客都必须佩戴胸牌。"),
    ("只有会员可以投票。", "非会员不能投票。"),
    ("该功能在第3版中默认关闭。", "该功能在第3版中默认不开启。"),
    ("公司位于首都，员工有300名。", "公司位于京城，员工有300名。"),
    ("他没有参加1990年的会议。", "他缺席了1990年的会议。"),
    ("他缺席了1990年的会议。", "他没有参加1990年的会议。"),
    ("三分之二的预算用于研究。", "约67%的预算用于研究。"),
    ("大坝高152米。", "大坝高度超过150米。"),
]


@pytest.mark.parametrize(("text", "claim"), REWORDED)
def test_a_true_sentence_in_other_words_is_not_failed(text: str, claim: str) -> None:
    (found,) = check_section(WrittenSection(claim, (segment("doc", 0, text),)))
    assert found.verdict in ("supported", "unverified"), found
    assert found.proofs


@pytest.mark.parametrize(
    ("text", "claim", "question", "title"),
    [
        ("The company opened its Hanoi plant in 2019.", "Kim Corp opened its Hanoi plant in 2019.", "", "Kim Corp"),
        ("Berg opened the Hanoi plant in 2019.", "Kim Corp opened the Hanoi plant in 2019.", "", "Kim Corp history"),
        (
            "He painted the ceiling between 1508 and 1512.",
            "Michelangelo painted the ceiling between 1508 and 1512.",
            "Who painted the ceiling?",
            "Michelangelo",
        ),
        ("该公司2019年在河内开设了工厂。", "金氏公司2019年在河内开设了工厂。", "", "金氏公司"),
        (
            "She led the choir in Turin from 1990.",
            "Berg led the choir in Turin from 1990.",
            "What did Anna Berg lead?",
            "",
        ),
    ],
)
def test_a_name_of_the_title_or_question_is_not_failed(text: str, claim: str, question: str, title: str) -> None:
    source = replace(segment("doc", 0, text), title=title)
    (found,) = check_section(WrittenSection(claim, (source,), question=question))
    assert found.verdict in ("supported", "unverified"), found
