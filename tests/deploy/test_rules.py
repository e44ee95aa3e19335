"""What a hub refuses before it starts."""

import socket
import tempfile
from pathlib import Path

import pytest
import rules
from rules import RefusalError, Settings


def told(**environ):
    """The settings that an environment describes."""
    return Settings.told({f"HUB_{name}": value for name, value in environ.items()})


class TestSettings:
    def test_nothing_told_is_real_sign_in_on_loopback(self):
        settings = told()
        assert (settings.ip, settings.port, settings.sign_in) == ("127.0.0.1", 8898, "pam")
        assert (settings.notebooks / "00_start_here.ipynb").exists()

    @pytest.mark.parametrize("port", ["", "8898"])
    def test_a_port_that_is_left_empty_is_the_usual_one(self, port):
        assert told(PORT=port).port == 8898

    @pytest.mark.parametrize("port", ["80", "65534", "eight", "-1", "8898.5"])
    def test_a_port_that_cant_be_had_is_refused(self, port):
        with pytest.raises(RefusalError, match="expected a number from 1024 to 65533"):
            told(PORT=port)

    def test_an_unknown_way_to_sign_in_is_refused_by_name(self):
        with pytest.raises(RefusalError, match="'ldap'; expected one of pam, dummy"):
            told(SIGN_IN="ldap")

    def test_a_folder_without_notebooks_is_refused(self, tmp_path):
        with pytest.raises(RefusalError, match="there is no notebook in it"):
            told(NOTEBOOKS=str(tmp_path))


class TestSafety:
    @pytest.mark.parametrize("ip", ["0.0.0.0", "192.0.2.7", "::", "example"])
    def test_anybody_may_sign_in_on_loopback_only(self, ip):
        with pytest.raises(RefusalError, match=r"lets anybody in, .* loopback only"):
            told(SIGN_IN="dummy", IP=ip, CERTIFICATE="c", KEY="k").refuse_what_is_unsafe(user=1000)

    @pytest.mark.parametrize("ip", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
    def test_on_loopback_it_is_allowed(self, ip):
        told(SIGN_IN="dummy", IP=ip).refuse_what_is_unsafe(user=1000)

    def test_nobody_gets_roots_rights_for_any_name(self):
        settings = told(SIGN_IN="dummy")
        with pytest.raises(RefusalError, match="that is root"):
            settings.refuse_what_is_unsafe(user=0)
        settings.refuse_what_is_unsafe(user=0, allow_root=True)

    def test_no_password_crosses_a_network_in_clear(self):
        with pytest.raises(RefusalError, match="in clear"):
            told(IP="192.0.2.7").refuse_what_is_unsafe(user=0)
        told(IP="192.0.2.7", CERTIFICATE="c", KEY="k").refuse_what_is_unsafe(user=0)

    @pytest.mark.parametrize("half", ["CERTIFICATE", "KEY"])
    def test_half_a_certificate_is_refused(self, half):
        with pytest.raises(RefusalError, match="go together"):
            told(**{half: "file"}).refuse_what_is_unsafe(user=0)


class TestReach:
    @pytest.fixture
    def open_place(self):
        """A folder that others can enter; pytest's own are closed."""
        with tempfile.TemporaryDirectory() as place:
            reached = Path(place).resolve()
            reached.chmod(0o755)
            if rules.closed_to_others(reached):
                pytest.skip(f"{reached} lies in a folder that is closed to others")
            yield reached

    def test_a_closed_folder_is_named_and_the_mend(self, open_place):
        closed = open_place / "home"
        closed.mkdir(mode=0o700)
        (closed / "python").touch(mode=0o755)
        with pytest.raises(RefusalError, match=rf"{closed} is closed to them.*/opt/attnlib"):
            rules.refuse_what_learners_cant_reach(closed / "python")

    def test_a_link_into_a_closed_folder_is_seen(self, open_place):
        closed = open_place / "home"
        closed.mkdir(mode=0o700)
        (closed / "python").touch()
        (open_place / "python").symlink_to(closed / "python")
        assert rules.closed_to_others(open_place / "python") == closed

    def test_what_others_can_read_is_no_hindrance(self, open_place):
        (open_place / "python").touch(mode=0o755)
        rules.refuse_what_learners_cant_reach(open_place / "python", open_place)

    def test_without_the_proxy_the_command_that_installs_it_is_named(self, tmp_path):
        with pytest.raises(RefusalError, match="make hub"):
            rules.refuse_without_proxy(tmp_path / "configurable-http-proxy")

    def test_a_second_hub_on_the_same_ports_is_refused(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(RefusalError, match=f"127.0.0.1:{port} can't be had"):
                rules.refuse_taken_ports("127.0.0.1", port - 1)
