"""Follows every link of the website: links.py FOLDER. Addresses of other sites are only read, not visited."""

import re
import sys
import urllib.parse

from docc import Site


def problem(site, url):
    address = urllib.parse.urlsplit(url)
    if address.scheme or address.netloc:
        return None if address.scheme == "https" and "." in address.netloc else "is not an https address"
    path = address.path.rstrip("/").lower()
    if path not in site.pages:
        return "leads nowhere"
    if not (site.folder / path[1:] / "index.html").exists():
        return "has no page"
    if address.fragment and urllib.parse.unquote(address.fragment).lower() not in site.anchors(path):
        return "names no heading of its page"
    return None


def main():
    site = Site(sys.argv[1])
    problems, count = [], 0
    for page in site.pages:
        for url in site.links(page):
            count += 1
            if what := problem(site, url):
                problems.append(f"{page}: {url} {what}")
        for url in site.files(page):
            count += 1
            if not (site.folder / url.lstrip("/")).exists():
                problems.append(f"{page}: {url} is missing")
    start = re.findall(r'<a href="([^"]+)"', (site.folder / "index.html").read_text())
    if [problem(site, url) for url in start] != [None]:
        problems.append(f"the site's first page leads to {start}")
    problems += [f"{page} is a decision" for page in site.pages if "/0" in page]
    if len(site.guides) < 30 or count < 1000:
        problems.append(f"there are only {len(site.guides)} guides and {count} links")
    print(f"{len(site.pages)} pages, {count} links")
    sys.exit("\n".join(problems) if problems else 0)


main()
