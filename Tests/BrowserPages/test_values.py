"""Every type of value: how it is shown and edited, and the rules of a schema."""

import base64
import shutil

from support import BrowseTest, Keys, filedb

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class ValuesTest(BrowseTest):
    def fill(self):
        (self.store / "dot.png").write_bytes(PNG)
        filedb(self.store, "create", "things")
        filedb(
            self.store,
            "add",
            "things",
            "name=Lamp",
            "large:integer=9007199254740993",
            "ratio:float=0.1",
            "is_on:bool=yes",
            "made:date=2010-03-04T05:06:07Z",
            f"photo:data=@{self.store}/dot.png",
            'sizes:json=["S", 2]',
            'place:json={"room": "kitchen", "shelf": 3}',
            f"story={'long ' * 200}end",
        )

    def read(self, name):
        return self.field("1", name, table="things")

    def edit(self, name, *keys):
        # What lies below the ids, which stay at the left, cannot be clicked.
        self.browser.driver.execute_script("document.querySelector('.grid-scroller').scrollLeft = 0")
        self.browser.double_click(self.browser.cell("1", name))
        self.browser.keys(*keys)

    def test_values_are_shown_and_edited_as_their_type_is(self):
        self.open()
        browser = self.browser
        browser.wait_for_cell("1", "large", "9007199254740993")
        browser.wait_for_cell("1", "made", "2010-03-04 06:06:07")
        self.assertEqual(browser.cell("1", "made").get_attribute("title"), "2010-03-04T05:06:07Z")
        browser.wait_for_cell("1", "place", "room: kitchen")
        self.edit("large", (Keys.CONTROL, "a"), "18446744073709551615", Keys.ENTER)
        browser.wait_for_cell("1", "large", "18446744073709551615")
        self.edit("ratio", (Keys.CONTROL, "a"), "0.30000000000000004", Keys.ENTER)
        browser.wait_for_cell("1", "ratio", "0.30000000000000004")
        self.edit("is_on")
        browser.find('.row[data-id="1"] [data-field="is_on"] .box:not(.is-on)')
        self.edit("made", (Keys.CONTROL, "a"), "2010-07-01 12:00")
        browser.wait_for_text(".cell-editor", "Stored as 2010-07-01T10:00:00Z")
        browser.keys(Keys.ENTER)
        browser.wait_for_cell("1", "made", "2010-07-01 12:00:00")
        self.assertEqual(
            [self.read(name) for name in ("large", "ratio", "is_on")],
            ["18446744073709551615", "0.30000000000000004", "false"],
        )

    def test_a_date_is_found_as_it_is_shown(self):
        filedb(self.store, "set", "things", "1", "made:date=2010-03-04T23:30:00Z")
        filedb(self.store, "add", "things", "name=Chair", "made:date=2010-03-04T12:00:00Z")
        self.open()
        browser = self.browser
        browser.wait_for_cell("1", "made", "2010-03-05 00:30:00")
        for where, ids in (
            ("made >= '2010-03-05'", ["1"]), ("made < '2010-03-05'", ["2"]),
            ("made = '2010-03-05 00:30'", ["1"]), ("made >= '2010-03-05T00:00:00Z'", []),
        ):
            browser.write('[aria-label="Filter"]', where)
            browser.wait(lambda: browser.ids() == ids, f"{where} does not find {ids}")
        browser.write('[aria-label="Filter"]', "")
        browser.wait_for_ids("1", "2")
        browser.write('[type="search"]', "2010-03-05 00:30")
        browser.wait(lambda: browser.ids() == ["1"], "the date is not found")

    def test_a_time_with_its_zone_is_found(self):
        filedb(self.store, "add", "things", "name=Chair", "made:date=2010-03-04T12:00:00Z")
        self.open()
        browser = self.browser
        for text, ids in (
            ("2010-03-04 05:06Z", ["1"]), ("2010-03-04T00:06:07-05:00", ["1"]), ("2010-03-04 06:06Z", []),
            ("chair 2010-03-04 12:00Z", ["2"]),
        ):
            browser.write('[type="search"]', text)
            browser.wait(lambda: browser.ids() == ids, f"{text} does not find {ids}")

    def test_a_date_is_chosen_from_a_calendar(self):
        self.open()
        browser = self.browser
        self.edit("made")
        browser.driver.execute_script("""
          HTMLInputElement.prototype.showPicker = function () { window.picked = this; };""")
        browser.click(browser.button("Choose a date", inside=".cell-editor"))
        picked = "return window.picked?.value"
        self.assertEqual(browser.driver.execute_script(picked), "2010-03-04T06:06:07")
        browser.driver.execute_script("""
          window.picked.value = '2010-07-01T12:00:00';
          window.picked.dispatchEvent(new Event('change'));""")
        browser.wait_for_text(".cell-editor", "Stored as 2010-07-01T10:00:00Z")
        browser.wait_for_focus_in(".cell-editor")
        browser.keys(Keys.ENTER)
        browser.wait_for_cell("1", "made", "2010-07-01 12:00:00")

    def test_each_item_of_a_list_is_a_chip(self):
        self.open()
        browser = self.browser
        browser.wait_for_cell("1", "sizes", "S 2")
        chips = '.row[data-id="1"] [data-field="sizes"] .pill'
        self.assertEqual(browser.texts(chips), ["S", "2"])
        self.assertEqual(browser.attributes(chips, "class"), ["pill", "pill"])

    def test_a_long_text_is_edited_whole(self):
        self.open()
        browser = self.browser
        self.assertTrue(browser.cell("1", "story").text.endswith("…"))
        self.edit("story")
        browser.find(".cell-editor textarea")  # Once all of the text is there.
        browser.keys((Keys.CONTROL, Keys.END), (Keys.ALT, Keys.ENTER), "The end.", Keys.ENTER)
        browser.gone(".cell-editor")
        browser.wait(lambda: self.read("story").endswith("end\nThe end."), "the end is missing")
        self.assertTrue(self.read("story").startswith("long long"))

    def test_what_is_typed_does_not_replace_a_text_that_is_on_its_way(self):
        self.open()
        browser = self.browser
        browser.hold_requests()
        self.edit("story", "x")
        browser.wait_for_request()
        browser.release_requests()
        text = browser.find(".cell-editor textarea").get_attribute("value")
        self.assertTrue(text.startswith("long long") and text.endswith("end"))
        browser.keys(Keys.ESCAPE)
        browser.gone(".cell-editor")

    def downloaded(self):
        folder = self.store.parent / f"{self.store.name}-downloads"
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        behaviour = {"behavior": "allow", "downloadPath": str(folder)}
        self.browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
        self.browser.click(self.browser.button("Download"))
        # Until it is complete, it has another name.
        file = folder / "photo.png"
        self.browser.wait(file.exists, "nothing is downloaded")
        return file.read_bytes()

    def test_a_picture_is_seen_replaced_and_downloaded(self):
        self.open()
        browser = self.browser
        picture = '.row[data-id="1"] [data-field="photo"] img'
        browser.wait(lambda: browser.find(picture).get_property("naturalWidth") == 1, "the picture does not load")
        self.edit("photo")
        browser.find(".data-preview img")
        self.assertEqual(self.downloaded(), PNG)
        page = self.store / "page.html"
        page.write_text("<script>document.title = 'broken in'</script>")
        browser.find('.data-editor input').send_keys(str(page))
        browser.wait_for_text(".data-preview", "45 bytes")
        browser.click(browser.button("Save"))
        browser.gone("dialog")
        browser.wait_for_cell("1", "photo", "45 bytes")

    def test_lists_and_fields_within_fields_are_edited(self):
        self.open()
        browser = self.browser
        self.edit("place")
        tree = 'dialog .field[data-field="place"]'
        browser.click(browser.button("Add a field", inside=tree))
        browser.keys("light", Keys.TAB, Keys.TAB, "dim")
        browser.click(browser.button("Save"))
        browser.gone("dialog")
        browser.wait_for_cell("1", "place", "light: dim")
        self.edit("sizes")
        browser.click(browser.button("Move down", inside='dialog .field[data-field="sizes"]'))
        browser.click(browser.button("Save"))
        browser.gone("dialog")
        browser.wait_for_cell("1", "sizes", "2 S")

    def test_fields_are_added_retyped_and_removed(self):
        self.open()
        browser = self.browser
        browser.click(browser.cell("1", "name"))
        browser.keys((Keys.SHIFT, Keys.ENTER))
        browser.click(browser.button("Remove ratio"))
        browser.click(browser.find("dialog .dialog-content > .button"))
        browser.keys("colour", Keys.TAB, Keys.TAB, Keys.TAB, "red")
        browser.click(browser.button("Save"))
        browser.gone("dialog")
        browser.wait_for_cell("1", "colour", "red")
        browser.gone('[data-column="ratio"]')


class DirectionTest(BrowseTest):
    """Hebrew, which is written from right to left."""

    def fill(self):
        filedb(self.store, "create", "books")
        filedb(self.store, "schema", "books", "name", "--type", "string")
        filedb(self.store, "schema", "books", "סוג", "--type", "string", "--enum", "שירה", "--enum", "סיפור")
        filedb(self.store, "add", "books", "name=שלום", "סוג=שירה", 'ספרים:json={"ספר": "אחד"}')

    def assert_right_to_left(self, *selectors):
        for selector in selectors:
            with self.subTest(selector):
                self.browser.find(selector)
                script = "return [...document.querySelectorAll(arguments[0])].every((node) => node.matches(':dir(rtl)'))"
                self.assertTrue(self.browser.driver.execute_script(script, selector))

    def test_values_are_written_in_their_direction(self):
        self.open()
        browser = self.browser
        browser.write('[type="search"]', "שלום")
        browser.write('[aria-label="Filter"]', "סוג = 'שירה'")
        browser.wait_for_ids("1")
        self.assert_right_to_left('[type="search"]', '[aria-label="Filter"]', '.row[data-id="1"] [data-field="name"]')
        browser.click(browser.cell("1", "name"))
        browser.keys((Keys.SHIFT, Keys.ENTER))
        self.assert_right_to_left(
            "dialog h2", 'dialog [data-field="name"] textarea', 'dialog [data-field="סוג"] .field-name',
            'dialog [data-field="סוג"] option[value="0"]', "dialog .key-input")

    def test_a_conflict_is_shown_in_the_direction_of_the_values(self):
        self.open()
        browser = self.browser
        browser.double_click(browser.cell("1", "name"))
        browser.find(".cell-editor textarea")
        browser.hold_requests()
        browser.keys((Keys.CONTROL, "a"), "ערב", Keys.ENTER)
        browser.wait_for_request()
        filedb(self.store, "set", "books", "1", "name=בוקר")
        browser.release_requests()
        browser.wait_for_text("dialog", "בוקר")
        self.assert_right_to_left("dialog td")
        browser.click(browser.button("Keep theirs"))
        browser.gone("dialog")


class RulesTest(BrowseTest):
    def fill(self):
        filedb(self.store, "create", "people")
        filedb(self.store, "schema", "people", "name", "--type", "string", "--required", "--unique")
        for name in ("Ridley Scott", "Terry Gilliam"):
            filedb(self.store, "add", "people", f"name={name}")
        filedb(self.store, "create", "films")
        for field, *rules in (
            ("title", "--type", "string", "--required", "--unique", "--title", "Title of the film"),
            ("year", "--type", "integer", "--minimum", "1888"),
            ("kind", "--type", "string", "--enum", "comedy", "--enum", "drama"),
            ("director", "--type", "string", "--references", "people.name"),
        ):
            filedb(self.store, "schema", "films", field, *rules)
        filedb(self.store, "add", "films", "title=Alien", "year=1979", "kind=drama", "director=Ridley Scott")
        filedb(self.store, "add", "films", "title=Brazil", "year=1985", "kind=comedy", "director=Terry Gilliam")

    def test_a_broken_rule_is_said_at_its_cell(self):
        self.open()
        browser = self.browser
        self.assertIn("Title of the film", browser.text(".head-row"))
        browser.double_click(browser.cell("2", "title"))
        browser.keys((Keys.CONTROL, "a"), "Alien", Keys.ENTER)
        browser.wait_for_text(".cell-problem", "Alien")
        browser.keys(Keys.ESCAPE)
        browser.gone(".cell-editor")
        browser.double_click(browser.cell("2", "year"))
        browser.keys((Keys.CONTROL, "a"), "1700", Keys.ENTER)
        browser.wait_for_text(".cell-problem", "1888")
        browser.keys((Keys.CONTROL, "a"), "1986", Keys.ENTER)
        browser.wait_for_cell("2", "year", "1986")

    def test_a_choice_and_a_reference_are_offered(self):
        self.open()
        browser = self.browser
        browser.double_click(browser.cell("2", "kind"))
        browser.keys("d", Keys.ENTER)
        browser.wait_for_cell("2", "kind", "drama")
        browser.double_click(browser.cell("2", "director"))
        browser.find('.cell-editor option[value="Ridley Scott"]')
        browser.keys((Keys.CONTROL, "a"), "Nobody", Keys.ENTER)
        browser.wait_for_text(".cell-problem", "Nobody")
        browser.keys((Keys.CONTROL, "a"), "Ridley Scott", Keys.ENTER)
        browser.wait_for_cell("2", "director", "Ridley Scott")

    def test_each_value_of_a_choice_has_a_colour(self):
        self.open()
        browser = self.browser
        browser.wait_for_cell("1", "kind", "drama")
        chip = lambda id: browser.find(f'.row[data-id="{id}"] [data-field="kind"] .pill')
        self.assertEqual([chip(id).text for id in ("1", "2")], ["drama", "comedy"])
        colours = [chip(id).value_of_css_property("background-color") for id in ("1", "2")]
        self.assertNotEqual(*colours)
        browser.double_click(browser.cell("2", "kind"))
        browser.keys("d", Keys.ENTER)
        browser.wait(lambda: chip("2").value_of_css_property("background-color") == colours[0], "another colour")

    def test_a_new_record_says_what_is_missing(self):
        self.open()
        browser = self.browser
        browser.click(browser.button("Add record"))
        browser.write('dialog [data-field="year"] input', "1999")
        browser.click(browser.button("Add", inside="dialog footer"))
        browser.wait_for_text("dialog form > .problem", "Title of the film")
        browser.write('dialog [data-field="title"] textarea', "Magnolia")
        browser.click(browser.button("Add", inside="dialog footer"))
        browser.wait_for_cell("3", "title", "Magnolia")
