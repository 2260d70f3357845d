"""Looks at each page of the website in headless Chromium: pages.py FOLDER

Articles and tutorials are seen wide and narrow, light and dark. Pages about a symbol, which docc lays out all alike, are
each seen in one of these ways, in turn.
"""

import functools
import http.server
import itertools
import shutil
import sys
import threading

from docc import Site
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.support.ui import WebDriverWait

WAYS = list(itertools.product((1280, 390), ("light", "dark")))

# What is wrong with the page as it is shown, as lines.
LOOK = """
const wrong = []
const luminance = color => {
  const [r, g, b] = color.match(/[\\d.]+/g).map(Number)
  return [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
}
const background = element => {
  for (let e = element; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor
    if (!/^rgba.*, 0\\)$|transparent/.test(color)) return color
  }
  return getComputedStyle(document.documentElement).colorScheme == 'dark' ? 'rgb(0,0,0)' : 'rgb(255,255,255)'
}
const width = document.documentElement.scrollWidth
if (width > innerWidth + 1) wrong.push(`is ${width} wide in a window of ${innerWidth}`)
for (const image of document.querySelectorAll('main img'))
  if (image.complete && image.naturalWidth == 0) wrong.push(`does not show ${image.src}`)
const text = [...document.querySelectorAll('main p')].find(p => p.innerText.length > 20 && p.offsetParent)
if (text && !text.closest('.hero, .documentation-hero, .tutorials-overview, .intro')) {
  const [a, b] = [getComputedStyle(text).color, background(text)].map(luminance).sort((a, b) => b - a)
  if ((a + 0.05) / (b + 0.05) < 4.5) wrong.push(`has text of ${getComputedStyle(text).color} on ${background(text)}`)
  if (matchMedia('(prefers-color-scheme: dark)').matches != luminance(background(text)) < 0.2)
    wrong.push(`has a background of ${background(text)}`)
}
return wrong
"""


# Where the links of this site lead.
LINKS = """
return [...document.querySelectorAll('#app a[href]')].filter(a => a.origin == location.origin && a.pathname != '/')
  .map(a => a.pathname)
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "SEVERE"})
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))


def show(driver, width, scheme):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 800},
    )
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def heading(driver):
    script = "return document.querySelector('#app h1')?.innerText.replaceAll('\\u200b', '').trim()"
    return driver.execute_script(script)


def follow(driver, path):
    """Shows a page as a click on a link does: the page's program fetches what is there, without starting anew."""
    driver.execute_script(
        "history.pushState({}, '', arguments[0]); dispatchEvent(new PopStateEvent('popstate', {state: {}}))",
        path + "/",
    )


def shows(driver, title, seconds):
    try:
        return WebDriverWait(driver, seconds, 0.02).until(lambda _: heading(driver) == title)
    except TimeoutException:
        return False


def problems(driver, origin, path, site):
    title = site.title(path)
    is_tutorial = path.startswith("/tutorials/")
    if not is_tutorial:
        follow(driver, path)
    # The program of docc's pages may ignore a click that comes while it is still busy with the one before. In that case,
    # open the page by its address. Tutorials are always opened like this.
    if is_tutorial or not shows(driver, title, 5):
        driver.get(f"{origin}{path}/")
        if not shows(driver, title, 60):
            yield f"has the heading {heading(driver)!r} and not {title!r}"
    yield from driver.execute_script(LOOK)
    for link in driver.execute_script(LINKS):
        if link.rstrip("/").lower() not in site.pages:
            yield f"has a link to {link}"
    yield from (entry["message"] for entry in driver.get_log("browser"))


def main():
    site = Site(sys.argv[1])
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=sys.argv[1])
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    guides = set(site.guides)
    ways = {way: [] for way in WAYS}
    for number, path in enumerate(site.pages):
        for way in WAYS if path in guides else [WAYS[number % len(WAYS)]]:
            ways[way].append(path)
    driver, failures, count = browser(), 0, 0
    try:
        for (width, scheme), paths in ways.items():
            show(driver, width, scheme)
            driver.get(f"{origin}/documentation/filedb/")
            WebDriverWait(driver, 60).until(heading, "the first page has no heading")
            for path in paths:
                count += 1
                for problem in problems(driver, origin, path, site):
                    failures += 1
                    print(f"{path}, {width} wide, {scheme}: {problem}", file=sys.stderr, flush=True)
    finally:
        driver.quit()
    print(f"{count} looks at {len(site.pages)} pages")
    sys.exit(1 if failures else 0)


main()
