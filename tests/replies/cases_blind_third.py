# ruff: noqa: E501 - a mail as a person writes it is read best on one line
"""What people write and sign with, a third round: judged before it was first read. One kind is left out: a name that is
signed in another script than the From field has it stays a near miss."""

from tests.replies.case import Case
from tests.replies.clients import apple, gmail, mutt, outlook, roundcube, samsung, thunderbird, yahoo

THIRD: list[Case] = [
    Case("third 1: Approve /  / Ada", gmail("Approve\n\nAda"), "approve"),
    Case("third 2: Approved! /  / Cheers, / Ada B.", gmail("Approved!\n\nCheers,\nAda B."), "approve"),
    Case(
        "third 3: approve /  / Sent from my iPhone /  / Ada Byron",
        gmail("approve\n\nSent from my iPhone\n\nAda Byron\nExample Ltd"),
        "approve",
    ),
    Case(
        "third 4: Go ahead. /  / Many thanks, /  / Ada Byron / Ope",
        gmail(
            "Go ahead.\n\nMany thanks,\n\nAda Byron\nOperations Manager\n\nExample Logistics Ltd\nUnit 4, Park Lane\nLeeds LS1 4AB\n\nTel: 0113 496 0000\nEmail: ada@example.org"
        ),
        "approve",
    ),
    Case("third 5: OK /  / BR, Ada", outlook("OK\n\nBR, Ada"), "approve"),
    Case(
        "third 6: ok /  / Best, / Ada /  / Ada Byron / Senior Buye",
        outlook("ok\n\nBest,\nAda\n\nAda Byron\nSenior Buyer\nPhone +1 (555) 010-0200"),
        "approve",
    ),
    Case("third 7: genehmigt /  / Gruß / Ada", outlook("genehmigt\n\nGruß\nAda"), "approve"),
    Case("third 8: genehmigt /  / LG Ada", gmail("genehmigt\n\nLG Ada"), "approve"),
    Case("third 9: freigegeben /  / VG / A. Byron", gmail("freigegeben\n\nVG\nA. Byron"), "approve"),
    Case("third 10: oui /  / Bien à vous / Ada Byron", gmail("oui\n\nBien à vous\nAda Byron"), "approve"),
    Case("third 11: sí /  / Saludos, / Ada", gmail("sí\n\nSaludos,\nAda"), "approve"),
    Case("third 12: va bene", gmail("va bene"), "respond"),
    Case("third 13: approvato /  / Grazie / Ada", gmail("approvato\n\nGrazie\nAda"), "approve"),
    Case("third 14: akkoord /  / Groetjes Ada", gmail("akkoord\n\nGroetjes Ada"), "approve"),
    Case("third 15: tak /  / Pozdrawiam / Ada", gmail("tak\n\nPozdrawiam\nAda"), "approve"),
    Case("third 17: 同意。 /  / 谢谢", gmail("同意。\n\n谢谢"), "approve"),
    Case("third 18: 承認いたします", gmail("承認いたします"), "respond"),
    Case("third 19: approve /  / Ada", mutt("approve\n\nAda"), "approve"),
    Case(
        "third 20: reject /  / The budget is last year's. /  / Ada",
        roundcube("reject\n\nThe budget is last year's.\n\nAda"),
        "reject",
    ),
    Case("third 21: no", yahoo("no"), "reject"),
    Case("third 22: Rejected.", samsung("Rejected."), "reject"),
    Case("third 23: edit: subject: Short notes", thunderbird("edit: subject: Short notes"), "edit"),
    Case("third 24: Edit / Body: Hello Maya", apple("Edit\nBody: Hello Maya"), "edit"),
    Case("third 25: reject: please ask again on Monday", gmail("reject: please ask again on Monday"), "reject"),
    Case("third 26: Looks good to me", gmail("Looks good to me"), "respond"),
    Case("third 27: sounds good", gmail("sounds good"), "respond"),
    Case("third 28: yep", gmail("yep"), "respond"),
    Case("third 29: Approve 1 and reject 2", gmail("Approve 1 and reject 2"), "respond"),
    Case("third 30: approve #1", gmail("approve #1"), "respond"),
    Case("third 31: approve item 1", gmail("approve item 1"), "respond"),
    Case("third 32: What does item 2 say?", gmail("What does item 2 say?"), "respond"),
    Case("third 33: approve /  / sent by my assistant", gmail("approve\n\nsent by my assistant"), "respond"),
    Case("third 34: approve (both)", gmail("approve (both)"), "respond"),
    Case("third 35: approve! /  / :-)", gmail("approve!\n\n:-)"), "respond"),
    Case("third 36: approve /  / P.S. nice work", gmail("approve\n\nP.S. nice work"), "respond"),
    Case(
        "third 37: approve /  / *Ada Byron* / _Head of Sales_",
        gmail("approve\n\n*Ada Byron*\n_Head of Sales_"),
        "approve",
    ),
    Case("third 38: *approve*", gmail("*approve*"), "approve"),
    Case("third 39: 'approve'", gmail('"approve"'), "approve"),
    Case(
        "third 40: approve /  / -- / Ada Byron / CEO, Example Inc.",
        gmail("approve\n\n--\nAda Byron\nCEO, Example Inc."),
        "approve",
    ),
    Case(
        "third 41: approve /  / ____________________ / Ada Byron /",
        gmail("approve\n\n____________________\nAda Byron\nExample AB\n+46 8 123 456"),
        "approve",
    ),
    Case(
        "third 42: approve /  / Best regards / Ada Byron /  / Examp",
        gmail(
            "approve\n\nBest regards\nAda Byron\n\nExample GmbH | Musterstr. 1 | 80331 München | Tel. 089 123456 | www.example.org\nGeschäftsführer: Jo Weber | Amtsgericht München HRB 123456 | USt-IdNr. DE123456789"
        ),
        "approve",
    ),
    Case(
        "third 43: approve /  / Ada /  / CONFIDENTIALITY NOTICE: Th",
        gmail(
            "approve\n\nAda\n\nCONFIDENTIALITY NOTICE: This email and any attachments are for the exclusive and confidential use of the intended recipient. If you are not the intended recipient, please do not read, distribute or take action based on this message."
        ),
        "approve",
    ),
    Case(
        "third 44: approve /  / Ada /  / This message has been scan",
        gmail(
            "approve\n\nAda\n\nThis message has been scanned for viruses and dangerous content and is believed to be clean. The information in this e-mail is confidential."
        ),
        "approve",
    ),
    Case(
        "third 45: approve /  / Ada /  / RGPD: Ce message contient",
        gmail(
            "approve\n\nAda\n\nRGPD: Ce message contient des informations confidentielles destinées exclusivement au destinataire."
        ),
        "approve",
    ),
    Case(
        "third 46: approve /  / Ada /  / Avviso di riservatezza: qu",
        gmail(
            "approve\n\nAda\n\nAvviso di riservatezza: questo messaggio è confidenziale ed è destinato esclusivamente al destinatario indicato."
        ),
        "approve",
    ),
    Case(
        "third 47: approve /  / Ada /  / We reserve the right to mo",
        gmail("approve\n\nAda\n\nWe reserve the right to monitor e-mail."),
        "respond",
    ),
    Case(
        "third 48: approve /  / Ada /  / 🌱 Please think of the envi",
        gmail("approve\n\nAda\n\n🌱 Please think of the environment before printing this email"),
        "approve",
    ),
    Case("third 49: approve /  / Ada (mobile)", gmail("approve\n\nAda (mobile)"), "respond"),
    Case("third 50: approve /  / Bob on behalf of Ada", gmail("approve\n\nBob on behalf of Ada"), "respond"),
]
