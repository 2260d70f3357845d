"""Copying and pasting: one form both ways, the same as that of spreadsheets."""

from support import BrowseTest, Keys, filedb


class Clipboard(BrowseTest):
    """A test that may use the clipboard."""

    def setUp(self):
        super().setUp()
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        self.browser.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": permissions})

    def read(self, type="text/plain"):
        script = """
          const [type, done] = arguments;
          navigator.clipboard.read()
            .then(async ([item]) => done(await (await item.getType(type)).text()), (error) => done(String(error)));"""
        return self.browser.driver.execute_async_script(script, type)

    def write(self, **texts):
        script = """
          const [texts, done] = arguments;
          const items = Object.entries(texts).map(([type, text]) => [`text/${type}`, new Blob([text], { type: `text/${type}` })]);
          navigator.clipboard.write([new ClipboardItem(Object.fromEntries(items))]).then(done, (error) => done(String(error)));"""
        self.assertIsNone(self.browser.driver.execute_async_script(script, texts))

    def paste(self, at="4"):
        browser = self.browser
        browser.click(browser.cell(at, "name"))
        browser.keys((Keys.CONTROL, "v"))
        browser.find("dialog table")

    def accept(self, count):
        self.browser.click(self.browser.button("Paste", inside="dialog footer"))
        self.browser.notice(f"Pasted {count} record")
        self.browser.gone("dialog")


class PasteTest(Clipboard):
    def test_quoted_cells_have_lines_and_tabs(self):
        self.open()
        self.write(plain='name\tnote\n"Quince\njam"\t"sweet\tand ""sour"""\nMedlar\tbletted\n')
        self.paste()
        self.browser.wait_for_text("dialog", "2 records in the clipboard")
        self.accept(2)
        self.assertEqual(self.field("77", "name"), "Quince\njam")
        self.assertEqual(self.field("77", "note"), 'sweet\tand "sour"')
        self.assertEqual(self.field("78", "name"), "Medlar")

    def test_what_is_copied_can_be_pasted(self):
        filedb(self.store, "set", "food", "2", 'note=two\nlines, a\ttab and "quotes"')
        self.open()
        browser = self.browser
        for id in ("2", "3"):
            browser.click(browser.find(f'.row[data-id="{id}"] .tick'))
        browser.keys((Keys.CONTROL, "c"))
        browser.notice("Copied 2 records")
        self.assertTrue(self.read().startswith("id\t"))
        self.assertIn("<table", self.read("text/html"))
        browser.keys(Keys.ESCAPE)
        self.paste()
        self.accept(2)
        for copy, original in (("77", "2"), ("78", "3")):
            for field in ("name", "kcal", "protein", "note"):
                self.assertEqual(self.field(copy, field), self.field(original, field))

    def test_lines_of_one_cell_stay_one_value(self):
        text = 'two\nlines, a\ttab and "quotes"'
        filedb(self.store, "set", "food", "2", f"note={text}")
        self.open()
        browser = self.browser
        browser.click(browser.cell("2", "note"))
        browser.keys((Keys.CONTROL, "c"))
        browser.notice("Copied the field")
        self.assertEqual(self.read(), '"two\nlines, a\ttab and ""quotes"""')
        self.paste()
        browser.wait_for_text("dialog", "1 record in the clipboard")
        self.accept(1)
        self.assertEqual(self.field("77", "name"), text)
        # In a text, too, and there without the quotes.
        browser.double_click(browser.cell("3", "name"))
        browser.keys((Keys.CONTROL, "a"), (Keys.CONTROL, "v"), Keys.ENTER)
        browser.gone(".cell-editor")
        self.assertEqual(self.field("3", "name"), text)

    def test_a_table_of_a_page_is_pasted(self):
        self.open()
        cells = "<tr><td>name</td><td>kcal</td></tr><tr><td>Quince</td><td>57</td></tr>"
        self.write(html=f"<p>Fruit</p><table>{cells}</table>", plain="Fruit name kcal Quince 57")
        self.paste()
        self.accept(1)
        self.assertEqual(self.field("77", "kcal"), "57")

    def test_a_column_is_left_out(self):
        self.open()
        self.write(plain="Quince\tsour\t57")
        self.paste()
        self.browser.write('[aria-label="Field of column 2"]', "")
        self.browser.write('[aria-label="Field of column 3"]', "kcal")
        self.accept(1)
        self.assertEqual(self.field("77", "kcal"), "57")


class ManyRecordsTest(Clipboard):
    """More ids than an address has room for."""

    def fill(self):
        file = self.store / "many.csv"
        file.write_text("name\n" + "".join(f"Record {number}\n" for number in range(1, 5001)))
        filedb(self.store, "import", str(file), "food", "--header")

    def test_they_are_copied(self):
        self.open()
        browser = self.browser
        browser.click(browser.cell("1", "name"))
        browser.keys((Keys.CONTROL, "a"))
        browser.wait_for_text(".toolbar", "5,000 selected")
        browser.keys((Keys.CONTROL, "c"))
        browser.notice("Copied 5,000 records")
        self.assertEqual(self.read().count("\n"), 5001)

    def test_selecting_is_stopped(self):
        self.open()
        browser = self.browser
        browser.click(browser.cell("1", "name"))
        browser.hold_requests(after=2)
        browser.keys((Keys.CONTROL, "a"))
        browser.wait_for_text(".working", "Selecting")
        self.assertAlmostEqual(float(browser.find(".working progress").get_property("value")), 0.4)
        browser.click(browser.button("Stop selecting"))
        browser.release_requests()
        browser.notice("Stopped selecting. 2,000 records of 5,000 selected.")
        browser.wait_for_text(".toolbar", "2,000 selected")

    def test_printing_is_stopped(self):
        self.open()
        browser = self.browser
        browser.driver.execute_script("window.print = () => { document.title = 'printed'; };")
        browser.hold_requests(after=2)
        browser.click(browser.button("Print"))
        browser.wait_for_text(".working", "Printing")
        browser.click(browser.button("Stop printing"))
        browser.release_requests()
        browser.notice("Nothing is printed")
        self.assertEqual(browser.all(".printed"), [])
        self.assertNotEqual(browser.driver.title, "printed")
