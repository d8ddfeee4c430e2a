"""The set-up page: what to type into a mail client, for this installation, as one self-contained HTML page.

The rule: it loads nothing from anywhere, and holds nothing that only the owner may know.
"""

from html import escape

from bridge.web.autoconfig import NAME, Places

_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #222; max-width: 46em; margin: 3em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .3em 1.2em .3em 0; text-align: left }
th { border-bottom: 1px solid #ccc } code { background: #f3f3f3; padding: .1em .35em; border-radius: 3px }
h2 { margin-top: 2em; font-size: 1.15em }
"""


def setup_page(places: Places, agents: list[str]) -> str:
    """The page. `agents` are the addresses one can write to."""
    listed = "".join(f"<li><code>{escape(address)}</code></li>" for address in agents)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Set up your mail client for Postroom</title>
<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>
<h1>Set up your mail client</h1>
<p>Postroom is running on this machine. Add it to the mail client you already use as one more account.</p>
<table>
<tr><th></th><th>server</th><th>port</th><th>security</th></tr>
<tr><td>Reading (IMAP)</td><td><code>{NAME}</code></td><td><code>{places.imaps}</code></td><td>SSL/TLS</td></tr>
<tr><td>or</td><td><code>{NAME}</code></td><td><code>{places.imap}</code></td><td>STARTTLS</td></tr>
<tr><td>Sending (SMTP)</td><td><code>{NAME}</code></td><td><code>{places.smtps}</code></td><td>SSL/TLS</td></tr>
<tr><td>or</td><td><code>{NAME}</code></td><td><code>{places.smtp}</code></td><td>STARTTLS</td></tr>
</table>
<p>User name: your account's name or its address (<code>name@{escape(places.domain)}</code>). Password: the one that
<code>postroom init</code> or <code>postroom password add</code> gave you. Authentication: normal password.</p>
<h2>Trust this server once</h2>
<p>The certificate is signed by an authority that lives in your data folder alone and can vouch only for this machine.
<a href="/ca.pem">Download it</a> and import it as an authority for web sites (Thunderbird: Settings, Privacy &amp;
Security, Certificates, Manage, Authorities, Import).</p>
<h2>Ready-made settings</h2>
<ul>
<li>Thunderbird: <code>/mail/config-v1.1.xml</code> on this port, for its account set-up</li>
<li>Apple Mail: <a href="/postroom.mobileconfig">a profile</a> with account and authority, without the password</li>
<li>Outlook (classic): choose manual set-up, IMAP, and type in the table above. The new Outlook and Outlook for phones
read mail through Microsoft's cloud and cannot reach this machine.</li>
</ul>
<h2>Write to</h2>
<ul>{listed}</ul>
</body></html>
"""
