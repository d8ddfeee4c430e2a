# ruff: noqa: E501 - a mail as a client lays it out is read best on one line
"""Twelve more languages in the same clients, and signatures as firms write them: judged before they were first read,
after the mails of the first round had been mended."""

from tests.replies.case import Case
from tests.replies.cases_blind_languages import (
    Tongue,
    apple_mail,
    classic_page,
    classic_plain,
    gmail_app,
    iphone,
    mac_outlook,
    mobile,
    new_outlook,
)
from tests.replies.clients import gmail, outlook, text_mail

TONGUES = {
    "da": Tongue(("Fra:", "Sendt:", "Dato:", "Til:", "Emne:"), "3. marts 2026 09:14", "-----Oprindelig meddelelse-----", "Hent Outlook til iOS", "Den tirs. 3. mar. 2026 kl. 09.14 skrev Assistant @@:", "Den 3. mar. 2026 kl. 09.14 skrev Assistant @@:", "Sendt fra min iPhone", "", "Godkendt", "afvist: forkert adresse", "Godkendt når Bob siger ja.", "Med venlig hilsen\nAda Byron\nIndkøbschef\nExample A/S\nTlf. +45 12 34 56 78"),
    "nb": Tongue(("Fra:", "Sendt:", "Dato:", "Til:", "Emne:"), "tirsdag 3. mars 2026 09:14", "-----Opprinnelig melding-----", "Skaff deg Outlook for iOS", "tir. 3. mars 2026 kl. 09:14 skrev Assistant @@:", "3. mars 2026 kl. 09:14 skrev Assistant @@:", "Sendt fra min iPhone", "", "godkjent", "avvist: feil adresse", "Godkjent når Bob har sagt ja.", "Med vennlig hilsen\nAda Byron\nInnkjøpssjef\nExample AS\n+47 22 12 34 56"),
    "fi": Tongue(("Lähettäjä:", "Lähetetty:", "Päivämäärä:", "Vastaanottaja:", "Aihe:"), "tiistai 3. maaliskuuta 2026 9.14", "-----Alkuperäinen viesti-----", "Hanki Outlook for iOS", "ti 3. maalisk. 2026 klo 9.14 Assistant @@ kirjoitti:", "Assistant @@ kirjoitti 3.3.2026 kello 9.14:", "Lähetetty iPhonesta", "", "Hyväksytty", "hylätty: väärä osoite", "Hyväksyn kun Bob on samaa mieltä.", "Ystävällisin terveisin\nAda Byron\nOstopäällikkö\nExample Oy\n+358 9 123 4567"),
    "cs": Tongue(("Od:", "Odesláno:", "Datum:", "Komu:", "Předmět:"), "úterý 3. března 2026 9:14", "-----Původní zpráva-----", "Získat Outlook pro iOS", "út 3. 3. 2026 v 9:14 odesílatel Assistant @@ napsal:", "Dne 3. 3. 2026 v 9:14, Assistant @@ napsal:", "Odesláno z iPhonu", "", "Schváleno", "zamítnuto: špatná adresa", "Schvaluji, až to potvrdí Bob.", "S pozdravem\nAda Byron\nVedoucí nákupu\nExample s.r.o.\n+420 222 123 456"),
    "hu": Tongue(("Feladó:", "Elküldve:", "Dátum:", "Címzett:", "Tárgy:"), "2026. március 3., kedd 9:14", "-----Eredeti üzenet-----", "Outlook iOS-hez beszerzése", "Assistant @@ ezt írta (időpont: 2026. márc. 3., K, 9:14):", "2026. márc. 3. dátummal, 9:14 időpontban Assistant @@ írta:", "Elküldve az iPhone-omról", "", "jóváhagyom", "elutasítom: rossz cím", "Jóváhagyom, ha Bob is egyetért.", "Üdvözlettel\nAda Byron\nBeszerzési vezető\nExample Kft.\n+36 1 123 4567"),
    "el": Tongue(("Από:", "Στάλθηκε:", "Ημερομηνία:", "Προς:", "Θέμα:"), "Τρίτη, 3 Μαρτίου 2026 9:14 πμ", "-----Αρχικό μήνυμα-----", "Λήψη του Outlook για iOS", "Στις Τρί 3 Μαρ 2026 στις 9:14 π.μ., ο/η Assistant @@ έγραψε:", "Στις 3 Μαρ 2026, στις 09:14, ο χρήστης Assistant @@ έγραψε:", "Στάλθηκε από το iPhone μου", "", "εγκρίνω", "όχι: λάθος διεύθυνση", "Εγκρίνω μόλις συμφωνήσει ο Μπομπ.", "Με εκτίμηση,\nAda Byron\n+30 21 0123 4567"),
    "uk": Tongue(("Від:", "Надіслано:", "Дата:", "Кому:", "Тема:"), "3 березня 2026 р. 9:14", "-----Оригінальне повідомлення-----", "Отримати Outlook для iOS", "вт, 3 бер. 2026 р. о 09:14 Assistant @@ пише:", "3 бер. 2026 р., о 09:14, Assistant @@ написав(-ла):", "Надіслано з iPhone", "", "Схвалюю", "відхиляю: не та адреса", "Схвалюю, коли Боб погодиться.", "З повагою,\nAda Byron\nВідділ закупівель\n+380 44 123 45 67"),
    "ro": Tongue(("De la:", "Trimis:", "Dată:", "Către:", "Subiect:"), "marți, 3 martie 2026 09:14", "-----Mesaj original-----", "Obțineți Outlook pentru iOS", "mar., 3 mar. 2026, 09:14 Assistant @@ a scris:", "Pe 3 mar. 2026, la 09:14, Assistant @@ a scris:", "Trimis de pe iPhone-ul meu", "", "approved", "reject: adresă greșită", "De acord dacă Bob confirmă.", "Cu stimă,\nAda Byron\nManager Achiziții\nExample S.R.L.\n+40 21 123 4567"),
    "ko": Tongue(("보낸 사람:", "보낸 날짜:", "날짜:", "받는 사람:", "제목:"), "2026년 3월 3일 화요일 오전 9:14", "-----원본 메시지-----", "iOS용 Outlook 다운로드", "2026년 3월 3일 (화) 오전 9:14, Assistant @@님이 작성:", "2026. 3. 3. 오전 9:14, Assistant @@ 작성:", "나의 iPhone에서 보냄", "", "승인합니다.", "거절: 주소가 틀렸습니다", "밥이 동의하면 승인합니다.", "감사합니다.\nAda Byron\n+82 2 1234 5678"),
    "ar": Tongue(("من:", "تم الإرسال:", "التاريخ:", "إلى:", "الموضوع:"), "الثلاثاء، 3 مارس 2026 9:14 ص", "-----رسالة أصلية-----", "الحصول على Outlook لـ iOS", "في الثلاثاء، 3 مارس 2026 في 9:14 ص تمت كتابة ما يلي بواسطة Assistant @@:", "في ٣ مارس ٢٠٢٦، الساعة ٩:١٤ ص، كتب Assistant @@:", "أُرسلت من الـ iPhone", "", "موافق", "مرفوض: العنوان خطأ", "موافق بعد أن يوافق بوب.", "مع أطيب التحيات\nAda Byron\n+971 4 123 4567"),
    "he": Tongue(("מאת:", "נשלח:", "תאריך:", "אל:", "נושא:"), "יום שלישי 3 מרץ 2026 09:14", "-----הודעה מקורית-----", "קבל את Outlook עבור iOS", "\u202bבתאריך יום ג׳, 3 במרץ 2026 ב-9:14 מאת \u202aAssistant\u202c\u200f @@:\u202c", "ב-3 במרץ 2026, בשעה 9:14, Assistant @@ כתב/ה:", "נשלח מה-iPhone שלי", "", "מאשר", "לא: כתובת שגויה", "מאשר אחרי שבוב יסכים.", "בברכה,\nAda Byron\n+972 3 123 4567"),
    "id": Tongue(("Dari:", "Dikirim:", "Tanggal:", "Kepada:", "Subjek:"), "Selasa, 03 Maret 2026 09.14", "-----Pesan Asli-----", "Dapatkan Outlook untuk iOS", "Pada Sel, 3 Mar 2026 pukul 09.14 Assistant @@ menulis:", "Pada 3 Mar 2026, pukul 09.14, Assistant @@ menulis:", "Dikirim dari iPhone saya", "", "disetujui", "ditolak: alamat salah", "Setuju kalau Bob juga setuju.", "Salam,\nAda Byron\nManajer Pembelian\n+62 21 1234 5678"),
}  # packed, to be seen at a glance  # fmt: skip

_SIGNED = {
    "two telephones": "Best regards,\n\nAda Byron\nProcurement Manager\nExample Industries\n12 High Street | London | EC1A 1BB\nPhone: +44 20 7946 0000 | Mobile: +44 7700 900000\nwww.example.org",
    "letters for fields": "Ada Byron\nSales Director\nT: +1 555 0100\nM: +1 555 0101\nE: ada.byron@example.org\nW: www.example.org",
    "pronouns": "Thanks,\nAda Byron (she/her)\nEngineering Manager\nExample Inc.",
    "an American number": "Ada Byron\nExample Corp\n(555) 010-0199",
    "a German address": "Mit freundlichen Grüßen\n\ni.A. Ada Byron\nEinkauf\n\nExample GmbH & Co. KG\nHauptstraße 5\n10115 Berlin\nTel.: +49 (0)30 123456-0\nFax: +49 (0)30 123456-99\nada.byron@example.org\n\nExample GmbH & Co. KG, Sitz: Berlin, Amtsgericht Charlottenburg HRA 12345",
    "a French address": "Cordialement,\n\nAda BYRON\nResponsable Achats\nExample SAS\n12 rue de la Paix\n75002 Paris\nTél. : 01 23 45 67 89",
    "a Swiss signature": "Freundliche Grüsse\nAda Byron\n\nExample AG\nBahnhofstrasse 1\n8001 Zürich\n+41 44 123 45 67",
    "degrees": "Dr. Ada Byron, MBA\nChief Financial Officer\nExample Group",
    "a motto in a picture": "Ada Byron\nHead of Sales\nwww.example.org",
    "rules of stars": "*****************************\nAda Byron\nDepartment of Mathematics\nUniversity of Example\n*****************************",
    "a list of networks": "Ada Byron\nMarketing Lead\nLinkedIn: https://www.linkedin.com/in/adabyron\nTwitter: https://twitter.com/adabyron",
    "name and firm on a line": "Kind regards, Ada Byron - Example Ltd",
}

SECOND: list[Case] = [
    *(
        case
        for name, tongue in TONGUES.items()
        for case in (
            Case(
                f"second: Outlook text {name}",
                classic_plain(f"{tongue.no}\n\n{tongue.off}", tongue),
                "reject",
                tongue.no,
            ),
            Case(
                f"second: Outlook page {name}",
                classic_page(f"{tongue.yes}\n\n{tongue.off}", tongue),
                "approve",
                tongue.yes,
            ),
            Case(f"second: new Outlook {name}", new_outlook(tongue.but, tongue), "respond", tongue.but),
            Case(f"second: Outlook iOS {name}", mobile(tongue.no, tongue), "reject", tongue.no),
            Case(f"second: Outlook for Mac {name}", mac_outlook(tongue.yes, tongue), "approve", tongue.yes),
            Case(
                f"second: Gmail app {name}", gmail_app(f"{tongue.yes}\n\n{tongue.off}", tongue), "approve", tongue.yes
            ),
            Case(f"second: Apple Mail {name}", apple_mail(tongue.but, tongue), "respond", tongue.but),
            Case(f"second: iPhone {name}", iphone(tongue.yes, tongue), "approve", tongue.yes),
        )
    ),
    *(
        Case(f"second: signed with {name}", gmail(f"approve\n\n{off}"), "approve", "approve")
        for name, off in _SIGNED.items()
    ),
    *(
        Case(
            f"second: signed in Outlook with {name}",
            outlook(f"reject: no money\n\n{off}"),
            "reject",
            "reject: no money",
        )
        for name, off in _SIGNED.items()
    ),
    *(
        Case(f"second: below dashes, {name}", text_mail(f"approve\n\n-- \n{off}\n"), "approve", "approve")
        for name, off in _SIGNED.items()
    ),
]
