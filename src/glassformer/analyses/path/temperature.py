"""What a temperature does to it: entropy, loss and specific heat against temperature."""

from glassformer.analyses import _applies
from glassformer.analyses._options import Member, Step
from glassformer.analyses._result import result
from glassformer.analyses._uncertain import Subject, Uncertainty, part, place
from glassformer.analyses._uncertain_run import uncertainty

ORDER = 120
ANSWERS = ("0.4",)
COST = "b"
APPLIES = (_applies.choice,)
QUANTITIES = ("entropy", "loss", "heat")


@result
class Temperature(Uncertainty):
    """Entropy, loss and specific heat against temperature, averaged over the life and at some moments of it."""

    @property
    def title(self) -> str:
        """Where the loss is least, and where the specific heat is largest."""
        if self.no_story:
            return self.no_story
        cold, mean = self.temperatures, self.by_temperature["entropy"].values[0]
        best, peak = (place(float(self.marks[name].values[-1]), cold) for name in ("least_loss", "most_heat"))
        if self.subject == "run":
            return (
                f"In the end the loss is least {best} and the specific heat largest {peak}; entropy grows with T "
                f"towards {self.highest:.2f}"
            )
        return (
            f"Averaged over the life, entropy grows from {mean[0]:.2f} nats at T = {cold[0]:g} to {mean[-1]:.2f} at "
            f"T = {cold[-1]:g}, of at most {self.highest:.2f}; in the end the specific heat is largest {peak}"
        )


def temperature(run: Subject, *, step: Step = -1, member: Member = 0) -> Temperature:
    """The predictions of a run, or of a physics model, at many temperatures."""
    shown = [f"{table}.{name}" for table in ("by_temperature", "at_moments") for name in QUANTITIES]
    return part(Temperature, uncertainty(run, step=step, member=member), *shown, "marks")
