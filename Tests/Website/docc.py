"""A website that docc has built: its pages, and what each says about links."""

import json
import pathlib


class Site:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.pages = {}
        for file in sorted((self.folder / "data").rglob("*.json")):
            path = "/" + str(file.relative_to(self.folder / "data"))[: -len(".json")]
            self.pages[path] = json.loads(file.read_text())

    def anchors(self, path):
        """The ids of the headings of a page."""
        found = set()

        def look(node):
            if isinstance(node, dict):
                if isinstance(node.get("anchor"), str):
                    found.add(node["anchor"].lower())
                for child in node.values():
                    look(child)
            elif isinstance(node, list):
                for child in node:
                    look(child)

        look({key: part for key, part in self.pages[path].items() if key != "references"})
        return found

    def title(self, path):
        """What the heading of a page says."""
        page = self.pages[path]
        sections = page.get("sections", [])
        if page.get("kind") in ("project", "overview") and sections:
            return sections[0]["title"]
        return page["metadata"]["title"]

    def links(self, path):
        """The addresses that a page refers to, apart from the chapters of tutorials, which have no pages."""
        hierarchy = self.pages[path].get("hierarchy", {})
        chapters = {chapter["reference"] for chapter in hierarchy.get("modules", [])}
        for name, reference in self.pages[path].get("references", {}).items():
            if name not in chapters and reference.get("type") in ("topic", "link", "section") and "url" in reference:
                yield reference["url"]

    def files(self, path):
        """The images that a page shows."""
        for reference in self.pages[path].get("references", {}).values():
            for variant in reference.get("variants", []):
                yield variant["url"]

    @property
    def guides(self):
        """The pages that people write: articles and tutorials, and the start page."""
        kinds = ("article", "project", "overview")
        return [
            path
            for path, page in self.pages.items()
            if page.get("kind") in kinds or path == "/documentation/filedb"
        ]
