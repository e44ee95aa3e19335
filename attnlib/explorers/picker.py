"""One of many, chosen by mouse or keyboard from the browser's own list."""

import traitlets

from attnlib.explorers.part import Part, source


class Picker(Part):
    """A list in groups.

    Attributes
    ----------
    label : str
        What is chosen.
    options : list of list
        The group, the title and the value of each.
    value : str
        The value of the chosen one.
    """

    _esm = source("picker.js")
    # Where no words stand in the panel, its style sheet comes with this.
    _css = source("panel.css")
    label = traitlets.Unicode().tag(sync=True)
    options = traitlets.List().tag(sync=True)
    value = traitlets.Unicode().tag(sync=True)

    @traitlets.validate("value")
    def _known(self, proposal):
        values = [value for _, _, value in self.options]
        if proposal.value not in values:
            raise traitlets.TraitError(
                f"value must be one of {', '.join(values)}; got {proposal.value!r}"
            )
        return proposal.value
