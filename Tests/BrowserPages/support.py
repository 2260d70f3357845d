"""What the browser tests share: a browser, a server, and words for what a person sees and does."""

import os
import re
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import axe_core_python
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

PACKAGE = Path(__file__).resolve().parents[2]
FILEDB = os.environ.get("FILEDB", "filedb")
AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
PATIENCE = 60  # Seconds until something that must appear counts as missing.


def filedb(store, *arguments, text=None):
    """Runs `filedb`, and gives what it prints."""
    result = subprocess.run(
        [FILEDB, "--store", str(store), *arguments], input=text, text=True, capture_output=True, check=False
    )
    if result.returncode != 0:
        raise AssertionError(f"filedb {' '.join(arguments)}: {result.stderr}")
    return result.stdout


def held_port():
    """A socket with a port that only a server with SO_REUSEADDR can also have, as often as it starts."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


class Server:
    """`filedb browse` on a store. It opens the program `browser`, if there is one."""

    def __init__(self, store, *arguments, browser=None):
        command = [FILEDB, "--store", str(store), "browse", *([] if browser else ["--no-open"]), *arguments]
        environment = os.environ | ({"DISPLAY": ":0", "BROWSER": str(browser)} if browser else {})
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        hung = threading.Timer(PATIENCE, self.process.kill)
        hung.start()
        self.address = self.process.stdout.readline().strip()
        hung.cancel()
        if not re.match(r"http://127\.0\.0\.1:\d+/#token=", self.address):
            raise AssertionError(f"filedb browse printed {self.address!r} and {self.process.stderr.read()!r}")

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()


class Found(WebElement):
    """An element of a page. If the page has replaced it, it is searched for again."""

    def __init__(self, search):
        self.search = search
        element = search()
        super().__init__(element.parent, element.id)

    def again(self, action):
        """Does something with the element; once more where that was replaced before it was done."""
        while True:
            try:
                return action()
            except StaleElementReferenceException:
                self._id = self.search().id

    def _execute(self, command, params=None):
        return self.again(lambda: super(Found, self)._execute(command, params))

    def get_attribute(self, name):
        return self.again(lambda: super(Found, self).get_attribute(name))

    def is_displayed(self):
        return self.again(lambda: super(Found, self).is_displayed())


class Browser:
    """A browser, and what a person does with the pages."""

    def __init__(self, width=1280, height=800, scheme="light"):
        options = webdriver.ChromeOptions()
        # A container has little shared memory, and its root may not have a sandbox.
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Europe/Vienna"})
        self.look(width, height, scheme)

    def look(self, width, height, scheme):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": scheme}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})

    def new_tabs(self, open_tab, count=1):
        """Calls `open_tab`, and goes to the last of the new tabs."""
        before = set(self.driver.window_handles)
        open_tab()
        self.wait(lambda: len(self.driver.window_handles) == len(before) + count, "no new tab")
        self.driver.switch_to.window((set(self.driver.window_handles) - before).pop())

    def close_other_tabs(self):
        kept = self.driver.current_window_handle
        for each in self.driver.window_handles:
            if each != kept:
                self.driver.switch_to.window(each)
                self.driver.close()
        self.driver.switch_to.window(kept)

    def hold_requests(self, after=0, to=""):
        """Lets requests wait until `release_requests`, but not the first `after` ones, nor those to other paths."""
        self.driver.execute_script("""
          const real = window.fetch;
          const held = [];
          let [free, path] = arguments;
          window.heldRequests = { count: () => held.length, release: () => held.forEach((proceed) => proceed()) };
          window.fetch = async (...request) => {
            if (!request[0].includes(path) || free-- > 0) return real(...request);
            await new Promise((proceed) => held.push(proceed));
            window.fetch = real;
            return real(...request);
          };""", after, to)

    def wait_for_request(self):
        """Waits until a request is held."""
        self.wait(lambda: self.driver.execute_script("return heldRequests.count() > 0"), "nothing was asked for")

    def release_requests(self):
        self.driver.execute_script("heldRequests.release()")

    def quit(self):
        self.driver.quit()

    def complaints(self):
        """What the console says of errors in the pages; a request that was refused or not answered is none of them."""
        lines = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return [line for line in lines if "Failed to load resource" not in line]

    # Seeing

    def wait(self, condition, message):
        """Waits until `condition()` is true, and gives what it gives."""
        return WebDriverWait(
            self.driver, PATIENCE, 0.02, (NoSuchElementException, StaleElementReferenceException)
        ).until(lambda _: condition(), message)

    def find(self, selector):
        return self.found(lambda: self.driver.find_element(By.CSS_SELECTOR, selector), f"nothing is {selector}")

    def found(self, search, message):
        """Waits until `search()` gives an element."""
        return Found(lambda: self.wait(search, message))

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        """What the elements say, without those that are hidden."""
        script = """
          return [...document.querySelectorAll(arguments[0])]
            .filter((node) => node.checkVisibility({ visibilityProperty: true })).map((node) => node.innerText.trim());"""
        return self.driver.execute_script(script, selector)

    def attributes(self, selector, name):
        script = "return [...document.querySelectorAll(arguments[0])].map((node) => node.getAttribute(arguments[1]))"
        return self.driver.execute_script(script, selector, name)

    def gone(self, selector):
        self.wait(lambda: not self.all(selector), f"there still is {selector}")

    def text(self, selector):
        return self.find(selector).text

    def wait_for_text(self, selector, text):
        shown = lambda: self.driver.find_element(By.CSS_SELECTOR, selector).text
        self.wait(lambda: text in shown(), f"{selector} does not say {text!r}")

    def button(self, label, inside=""):
        """The button that says, or has as its name, `label`."""

        def shown():
            buttons = self.all(f"{inside} button, {inside} a.button")
            return next((each for each in buttons if each.is_displayed() and self.name(each).startswith(label)), None)

        return self.found(shown, f"no button {label}")

    def that_says(self, text, selector):
        """The first of the elements with `text` in what it says."""
        search = lambda: next((each for each in self.all(selector) if text in each.text), None)
        return self.found(search, f"no {selector} says {text!r}")

    def name(self, node):
        return node.get_attribute("aria-label") or node.text

    def cell(self, id, field=None):
        """The cell of a record's field, or of its id."""
        part = f'[data-field="{field}"]' if field else '[role="rowheader"]'
        return self.find(f'.row[data-id="{id}"] {part}')

    def wait_for_cell(self, id, field, text):
        selector = f'.row[data-id="{id}"] [data-field="{field}"]'
        self.wait_for_text(selector, text)

    def ids(self):
        """The ids of the rows that are seen, from top to bottom."""
        script = """
          const scroller = document.querySelector('.grid-scroller').getBoundingClientRect();
          return [...document.querySelectorAll('.row[data-id]')]
            .filter((row) => row.dataset.id !== '')
            .map((row) => ({ id: row.dataset.id, top: row.getBoundingClientRect().top }))
            .filter(({ top }) => top >= scroller.top + 35 && top < scroller.bottom - 1)
            .sort((one, other) => one.top - other.top).map(({ id }) => id);"""
        return self.driver.execute_script(script)

    def wait_for_ids(self, *ids):
        self.wait(lambda: self.ids()[: len(ids)] == list(ids), f"the first records are not {ids}")

    def scroll(self, part):
        """Scrolls to a part of the records: 0 is the beginning, 1 the end."""
        self.driver.execute_script(
            """
          const scroller = document.querySelector('.grid-scroller');
          scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) * arguments[0];""",
            part,
        )

    def notice(self, text):
        self.wait_for_text(".notices", text)

    # Doing

    def open(self, address, first=None):
        self.driver.get(address)
        if first is not None:
            self.cell(first)

    def keys(self, *keys):
        """Presses keys one after another; a tuple is pressed at once."""
        for key in keys:
            chain = ActionChains(self.driver, duration=0)
            if isinstance(key, tuple):
                *held, last = key
                for each in held:
                    chain.key_down(each)
                chain.send_keys(last)
                for each in reversed(held):
                    chain.key_up(each)
            else:
                chain.send_keys(key)
            chain.perform()

    def click(self, node, *held):
        # The pointer goes to the node first: no key is held where that was replaced.
        self.point(node)
        chain = ActionChains(self.driver, duration=0)
        for key in held:
            chain.key_down(key)
        chain.click()
        for key in held:
            chain.key_up(key)
        chain.perform()

    def double_click(self, node):
        self.point(node)
        ActionChains(self.driver, duration=0).double_click().perform()

    def point(self, node, right=0, down=0):
        """Moves the pointer to a node, or to a place beside its middle."""
        chain = lambda: ActionChains(self.driver, duration=0).move_to_element_with_offset(node, right, down)
        node.again(lambda: chain().perform())

    def hold(self, node):
        self.point(node)
        ActionChains(self.driver, duration=0).click_and_hold().perform()

    def release(self):
        ActionChains(self.driver, duration=0).release().perform()

    def drag_by(self, node, right):
        self.point(node)
        ActionChains(self.driver, duration=0).click_and_hold().move_by_offset(right, 0).release().perform()

    def write(self, selector, text):
        """Replaces what a field has."""
        field = self.find(selector)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text or Keys.DELETE)
        return field

    def wait_for_focus(self, id, field=None):
        """Waits until a cell of this record has the focus."""
        self.wait(
            lambda: self.focused()[0] == id and field in (None, self.focused()[1]),
            f"the focus is not at record {id}, {field}",
        )

    def wait_for_focus_in(self, selector):
        script = "return Boolean(document.activeElement.closest(arguments[0]))"
        self.wait(lambda: self.driver.execute_script(script, selector), f"the focus is not in {selector}")

    def focused(self):
        """The id and the field of the cell with the focus."""
        return self.driver.execute_script("""
          const cell = document.activeElement;
          return [cell.parentElement.dataset.id, cell.dataset.field ?? cell.dataset.column];""")

    def serious_faults(self):
        """What axe finds on the page that is serious."""
        self.driver.execute_script(AXE)
        result = self.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
        return [
            f"{rule['id']}: {node['html'][:200]}"
            for rule in result["violations"]
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]


class BrowseTest(unittest.TestCase):
    """A store in a folder of its own, a server on it, and one browser for all tests of a class."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="filedb-browse.")
        self.addCleanup(folder.cleanup)
        self.store = Path(folder.name)
        self.fill()
        self.server = Server(self.store, *self.arguments)
        self.addCleanup(lambda: self.server.stop())
        self.browser.complaints()

    def tearDown(self):
        self.browser.close_other_tabs()
        self.assertEqual(self.browser.complaints(), [])
        self.check()

    def fill(self):
        """Makes the tables of the test: 76 foods."""
        filedb(
            self.store,
            "import",
            str(PACKAGE / "Examples/foods.csv"),
            "food",
            "--header",
            "--types",
            "kcal=integer,protein=float,fat=float,carbohydrate=float,fibre=float",
        )

    def check(self):
        """Fails where the store is not sound."""
        filedb(self.store, "check")

    def field(self, id, name, table="food"):
        return filedb(self.store, "get", table, id, name).strip()

    def order(self, count, table="food"):
        """The ids of the first records, in their order in the store."""
        lines = filedb(self.store, "show", table, "--limit", str(count), "--format", "csv", "--no-header").splitlines()
        return [line.split(",")[0] for line in lines]

    def open(self, first="1"):
        self.browser.open(self.server.address, first)
