"""The columns: their widths and their order, what they show, and what one does from their heads."""

from support import BrowseTest, Keys, Server, filedb


class ColumnsTest(BrowseTest):
    def test_a_column_is_dragged_wider_and_stays_so(self):
        self.open()
        browser = self.browser
        before = self.width("name")
        edge = browser.find('[data-column="name"] .column-edge')
        browser.drag_by(edge, 60)
        browser.wait(lambda: self.width("name") == before + 60, "the column is not wider")
        self.assertEqual(browser.cell("2", "name").size["width"], before + 60)
        # The edge is no place to sort by.
        self.assertEqual(browser.text(".status-sorted"), "")
        browser.driver.refresh()
        browser.cell("1")
        self.assertEqual(self.width("name"), before + 60)

    def test_a_column_is_made_narrower_and_wider_by_keys(self):
        self.open()
        browser = self.browser
        before = self.width("name")
        browser.click(browser.cell("1", "name"))
        browser.keys(Keys.ARROW_UP, (Keys.SHIFT, Keys.ARROW_RIGHT), (Keys.SHIFT, Keys.ARROW_RIGHT))
        browser.wait(lambda: self.width("name") == before + 32, "the column is not wider")
        browser.keys((Keys.SHIFT, Keys.ARROW_LEFT))
        browser.wait(lambda: self.width("name") == before + 16, "the column is not narrower")
        self.assertEqual(browser.focused()[1], "name")

    def test_a_column_keeps_a_least_width(self):
        self.open()
        edge = self.browser.find('[data-column="name"] .column-edge')
        self.browser.drag_by(edge, -self.width("name"))
        self.browser.wait(lambda: self.width("name") == 56, "the column has another width")

    def width(self, column):
        return self.browser.find(f'[data-column="{column}"]').size["width"]


class Heads(BrowseTest):
    """A test that goes to the heads of columns."""

    def heads(self):
        return self.browser.attributes(".head", "data-column")[1:]

    def wait_for_heads(self, *names):
        self.browser.wait(lambda: self.heads()[: len(names)] == list(names), f"the first columns are not {names}")

    def to_head(self, name):
        browser = self.browser
        browser.click(browser.cell(browser.wait(browser.ids, "there is no record")[0], name))
        browser.keys(Keys.ARROW_UP)
        browser.wait(lambda: browser.focused()[1] == name, "the head does not have the focus")

    def choose(self, label):
        browser = self.browser
        browser.click(browser.button(label, inside=".menu"))


class ArrangementTest(Heads):
    def test_the_name_is_first_without_a_schema(self):
        fields = ("colour", "brand", "title", "author", "year")
        filedb(self.store, "create", "books")
        filedb(self.store, "add", "books", *(f"{name}=x" for name in fields))
        self.browser.open(self.server.address + "/books", "1")
        self.assertEqual(self.heads(), ["title", "author", "brand", "colour", "year"])
        # And a record is known by it.
        self.browser.click(self.browser.cell("1", "year"))
        self.browser.keys((Keys.SHIFT, Keys.ENTER))
        self.browser.wait_for_text("dialog h2", "x (record 1)")

    def test_the_name_is_first_if_a_schema_has_rules_for_few_columns(self):
        filedb(self.store, "create", "books")
        filedb(self.store, "schema", "books", "year", "--type", "integer")
        filedb(self.store, "add", "books", "colour=x", "brand=x", "title=x", "author=x", "year=1979")
        self.browser.open(self.server.address + "/books", "1")
        self.assertEqual(self.heads()[0], "title")

    def hide(self, column):
        self.to_head(column)
        self.browser.keys((Keys.ALT, Keys.ARROW_DOWN))
        self.choose("Hide")
        self.browser.gone(f'[data-column="{column}"]')

    def test_columns_stay_arranged_when_the_server_starts_again(self):
        self.open()
        browser = self.browser
        self.hide("fat")
        self.server.stop()
        self.server = Server(self.store)
        self.open()
        self.assertNotIn("fat", self.heads())

    def test_the_order_of_a_schema_is_first(self):
        self.open()
        self.assertEqual(self.heads()[:3], ["name", "group", "kcal"])

    def test_a_column_is_dragged_to_another_place(self):
        self.open()
        browser = self.browser
        browser.hold(browser.find('[data-column="note"]'))
        browser.point(browser.find('[data-column="fat"]'), right=-20)
        browser.find(".column-line")
        browser.release()
        self.wait_for_heads("name", "group", "kcal", "protein", "note", "fat")
        self.assertEqual(browser.text(".status-sorted"), "")
        browser.driver.refresh()
        browser.cell("1")
        self.wait_for_heads("name", "group", "kcal", "protein", "note", "fat")

    def test_a_column_is_moved_by_keys(self):
        self.open()
        self.to_head("group")
        self.browser.keys((Keys.ALT, Keys.ARROW_LEFT))
        self.wait_for_heads("group", "name")
        self.browser.wait(lambda: self.browser.focused()[1] == "group", "the focus is elsewhere")
        self.browser.keys((Keys.ALT, Keys.ARROW_RIGHT))
        self.wait_for_heads("name", "group")

    def test_a_column_is_hidden_and_shown_again(self):
        self.open()
        browser = self.browser
        self.hide("fat")
        browser.driver.refresh()
        browser.cell("1")
        self.assertNotIn("fat", self.heads())
        # The record has it still.
        browser.click(browser.cell("1", "name"))
        browser.keys((Keys.SHIFT, Keys.ENTER))
        browser.find('dialog [data-field="fat"]')
        browser.keys(Keys.ESCAPE)
        browser.gone("dialog")
        browser.click(browser.button("Columns"))
        self.choose("fat")
        browser.find('[data-column="fat"]')

    def test_a_pinned_column_stays_at_the_left(self):
        self.open()
        browser = self.browser
        browser.look(700, 600, "light")
        self.addCleanup(browser.look, 1280, 800, "light")
        self.to_head("fat")
        browser.keys((Keys.ALT, Keys.ARROW_DOWN))
        self.choose("Keep it at the left")
        self.wait_for_heads("fat", "name")
        left = browser.cell("1", "fat").location["x"]
        browser.driver.execute_script("document.querySelector('.grid-scroller').scrollLeft = 300")
        self.assertEqual(browser.cell("1", "fat").location["x"], left)
        self.assertLess(browser.cell("1", "name").location["x"], left)

    def test_columns_fill_the_window(self):
        self.open()
        browser = self.browser
        edges = lambda: browser.driver.execute_script("""
          const right = (node) => node.getBoundingClientRect().right;
          return [right(document.querySelector('.head-row').lastChild), right(document.querySelector('.grid-scroller'))];""")
        for width in (1280, 1500):
            browser.look(width, 800, "light")
            browser.wait(lambda: 0 <= edges()[1] - edges()[0] < 12, f"the columns do not fill {width} pixels")
        browser.look(1280, 800, "light")

    def test_an_editor_at_the_right_edge_is_whole(self):
        self.open()
        browser = self.browser
        for width in (1280, 360):
            browser.look(width, 700, "light")
            browser.click(browser.cell("1", "name"))
            browser.keys(Keys.END, Keys.ENTER)
            editor = browser.find(".cell-editor").rect
            self.assertLessEqual(editor["x"] + editor["width"], width)
            browser.keys(Keys.ESCAPE)
        browser.look(1280, 800, "light")


class ColumnMenuTest(Heads):
    """What the menu of a column does to the records and to the table."""

    def menu(self, name, label):
        self.to_head(name)
        self.browser.keys((Keys.ALT, Keys.ARROW_DOWN))
        self.choose(label)

    def tick(self, text):
        """Ticks the box with this text in a dialog."""
        self.browser.click(self.browser.that_says(text, "dialog .check"))

    def test_the_view_is_sorted(self):
        self.open()
        self.menu("kcal", "Sort descending")
        self.browser.wait_for_text(".status", "View sorted by kcal, descending")

    def test_values_are_chosen_for_the_filter(self):
        self.open()
        browser = self.browser
        self.menu("group", "Filter")
        for group in ("Fruit", "Fish"):
            self.tick(group)
        browser.click(browser.button("Filter", inside="dialog footer"))
        where = browser.find('[aria-label="Filter"]')
        browser.wait(lambda: "IN {" in where.get_property("value"), "the filter is not written")
        count = filedb(self.store, "count", "food", "--where", "group IN {'Fruit', 'Fish'}").strip()
        browser.wait_for_text(".status", f"of {count}")
        self.menu("kcal", "Filter")
        browser.find("dialog input.input").send_keys("50")
        browser.click(browser.button("Filter", inside="dialog footer"))
        browser.wait(lambda: where.get_property("value").endswith(" AND kcal >= 50"), "the range is not added")

    def test_any_name_and_any_text_can_be_filtered(self):
        filedb(self.store, "create", "odd")
        for value in ('say "so" \\ now', "two\nlines"):
            filedb(self.store, "add", "odd", "in the=x", f"first name={value}")
        self.open()
        browser = self.browser
        browser.driver.execute_script("location.hash = '#/odd'")
        browser.wait_for_text(".title", "odd")
        browser.cell("1", "first name")
        for row, id in enumerate(("1", "2")):
            self.menu("first name", "Filter")
            start = 'say "so"' if id == "1" else "two"
            self.tick(start)
            browser.click(browser.button("Filter", inside="dialog footer"))
            browser.wait(lambda: browser.ids() == [id], f"record {id} is not found")
            browser.find('[aria-label="Filter"]').send_keys(Keys.ESCAPE)
            browser.wait_for_ids("1", "2")

    def test_a_column_is_renamed_and_deleted(self):
        self.open()
        browser = self.browser
        self.menu("fat", "Rename")
        browser.write("dialog input", "lipids")
        browser.click(browser.button("Rename", inside="dialog footer"))
        browser.find('[data-column="lipids"]')
        self.assertEqual(self.field("2", "lipids"), "21.3")
        self.menu("lipids", "Delete the column")
        browser.click(browser.button("Delete the column", inside="dialog footer"))
        browser.gone('[data-column="lipids"]')
        browser.notice("Deleted the column lipids")
        browser.click(browser.button("Undo", inside=".notice:last-child"))
        browser.find('[data-column="lipids"]')
        self.assertEqual(self.field("2", "lipids"), "21.3")

    def test_a_column_gets_a_type_and_rules(self):
        self.open()
        browser = self.browser
        self.menu("group", "Type and rules")
        self.tick("Every record")
        browser.click(browser.button("Save", inside="dialog footer"))
        browser.notice("Changed the column group")
        self.assertIn("required", filedb(self.store, "schema", "food"))
        browser.wait_for_text(".grid", "group")
        browser.click(browser.cell("2", "group"))
        browser.keys(Keys.DELETE)
        browser.wait(lambda: browser.text(".cell-problem") != "", "nothing is said")
        # What cannot be converted is said, and nothing changes.
        browser.keys(Keys.ESCAPE)
        self.menu("name", "Type and rules")
        browser.find("dialog select").send_keys("w", Keys.ENTER)
        browser.wait_for_text("dialog form > .problem", "record")
        self.assertEqual(self.field("1", "name"), "Brown rice")
        # What was typed is still there, and can be corrected.
        browser.find("dialog select").send_keys(Keys.ARROW_UP, Keys.ENTER)
        browser.gone("dialog")
        browser.notice("Changed the column name")

    def test_rules_that_an_input_cannot_show_stay(self):
        filedb(self.store, "schema", "food", "note", "--type", "string", "--default", "two\nlines")
        filedb(self.store, "schema", "food", "kcal", "--type", "integer", "--minimum", "0", "--default", "5")
        filedb(self.store, "schema", "food", "kcal", "--without", "type")
        before = filedb(self.store, "schema", "food", "--format", "json")
        self.open()
        browser = self.browser
        for name in ("note", "kcal"):
            self.menu(name, "Type and rules")
            self.tick("Every record")
            self.tick("Every record")
            browser.click(browser.button("Save", inside="dialog footer"))
            browser.gone("dialog")
            browser.notice(f"Changed the column {name}")
        self.assertEqual(filedb(self.store, "schema", "food", "--format", "json"), before)

    def test_it_is_said_which_rules_do_not_fit_a_type(self):
        filedb(self.store, "schema", "food", "kcal", "--type", "integer", "--minimum", "0", "--default", "5")
        self.open()
        browser = self.browser
        self.menu("kcal", "Type and rules")
        browser.find("dialog select").send_keys("li")
        browser.wait_for_text("dialog", "the column loses its smallest value, default.")
        browser.keys(Keys.ESCAPE)
        browser.gone("dialog")

    def test_a_pattern_a_default_and_a_reference_are_edited(self):
        filedb(self.store, "create", "groups")
        filedb(self.store, "schema", "groups", "name", "--type", "string", "--unique")
        for group in sorted({self.field(str(id), "group") for id in range(1, 77)}):
            filedb(self.store, "add", "groups", f"name={group}")
        self.open()
        browser = self.browser

        def write(label, text):
            browser.find("dialog")
            node = browser.driver.execute_script("""
              return [...document.querySelectorAll('dialog label')].find((each) => each.textContent === arguments[0])
                .control;""", label)
            node.send_keys(*([] if node.tag_name == "select" else [Keys.CONTROL + "a" + Keys.NULL]), text)

        def save():
            browser.click(browser.button("Save", inside="dialog footer"))
            browser.gone("dialog")

        self.menu("note", "Type and rules")
        write("Pattern", "[^;]+")
        write("Default", "New")
        save()
        browser.notice("Changed the column note")
        self.menu("group", "Type and rules")
        write("Refers to a record of", "groups")
        write("By its id, or a unique field", "name")
        write("If that record is deleted", "this field")
        save()
        browser.notice("Changed the column group")
        rules = filedb(self.store, "schema", "food")
        for rule in ("[^;]+", "New", "groups.name", "clear"):
            self.assertIn(rule, rules)
        # They are shown again, and stay if nobody changes them.
        self.menu("group", "Type and rules")
        write("Title", "Kind")
        save()
        browser.wait_for_text(".head-row", "Kind")
        rules = filedb(self.store, "schema", "food")
        self.assertIn("groups.name", rules)
        self.assertIn("clear", rules)
        self.menu("note", "Type and rules")
        write("Pattern", "")
        browser.keys(Keys.DELETE)
        save()
        browser.wait(lambda: "[^;]+" not in filedb(self.store, "schema", "food"), "the pattern stays")
        self.assertIn("New", filedb(self.store, "schema", "food"))

    def test_a_column_is_added(self):
        self.open()
        browser = self.browser
        browser.click(browser.button("Columns"))
        self.choose("Add a column")
        browser.write("dialog input", "vegan")
        browser.find("dialog select").send_keys("y")
        browser.click(browser.button("Add", inside="dialog footer"))
        browser.find('[data-column="vegan"]')
        browser.click(browser.find('.row[data-id="1"] [data-field="vegan"] .box'))
        browser.find('.row[data-id="1"] [data-field="vegan"] .box.is-on')
        self.assertEqual(self.field("1", "vegan"), "true")


class CellTest(BrowseTest):
    def test_points_of_decimals_are_below_each_other(self):
        self.open()
        whole, tenth = (self.browser.cell(id, "protein") for id in ("3", "1"))
        self.assertEqual([whole.text, tenth.text], ["9", "2.7"])
        edge = lambda cell: self.browser.driver.execute_script("""
          const range = document.createRange();
          const text = arguments[0].firstChild;
          range.setStart(text, 0);
          range.setEnd(text, text.data.split('.')[0].length);
          return range.getBoundingClientRect().right;""", cell)
        self.assertAlmostEqual(edge(whole), edge(tenth), delta=0.6)

    def test_records_that_are_dragged_are_dimmed_and_counted(self):
        self.open()
        browser = self.browser
        for id in ("2", "4", "5"):
            browser.click(browser.find(f'.row[data-id="{id}"] .tick'))
        browser.hold(browser.find('.row[data-id="4"] .grip'))
        browser.point(browser.cell("7", "name"))
        browser.wait_for_text(".drag-label", "3 records")
        self.assertEqual(browser.attributes(".row.is-dragged", "data-id"), ["2", "4", "5"])
        browser.keys(Keys.ESCAPE)
        browser.gone(".row.is-dragged")
        browser.release()
