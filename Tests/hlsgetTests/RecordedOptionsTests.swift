import Testing

@testable import hlsget

@Suite("Command-line options in a recording")
struct RecordedOptionsTests {
    @Test(
        "only options that affect decisions are kept",
        arguments: [
            (["URL"], []),
            (["URL", "--one-quality", "--adaptive"], ["--one-quality"]),
            (["URL", "--rate", "2", "--fast"], ["--rate", "2", "--fast"]),
            (["--rate=2", "--to", "-30s", "URL"], ["--rate=2", "--to", "-30s"]),
            (["-H", "Authorization: x", "--cacert", "/a", "URL", "-o", "f.ts", "--no-audio"], ["--no-audio"]),
            (
                ["play", "--quality", "height<=720 codec=hevc", "--record-trace", "r", "URL"],
                ["--quality", "height<=720 codec=hevc"]
            ),
        ] as [([String], [String])])
    func kept(arguments: [String], kept: [String]) {
        #expect(RecordedOptions.kept(of: arguments) == kept)
    }

    @Test(
        "in a recording's options each value is joined to its name",
        arguments: [
            ([], []),
            (["--rate", "-2", "--fast"], ["--rate=-2", "--fast"]),
            (["--quality=a=b", "--subs", "lang=de"], ["--quality=a=b", "--subs=lang=de"]),
            (["--from", "--refresh-cmd=touch x"], ["--from=--refresh-cmd=touch x"]),
        ] as [([String], [String])])
    func read(arguments: [String], read: [String]) throws {
        #expect(try RecordedOptions.checked(arguments) == read)
    }

    @Test(
        "other options in a recording are refused",
        arguments: [
            ["--fast", "--refresh-cmd", "touch x"], ["--refresh-cmd=touch x"], ["-o", "x"], ["--access-log=x"],
            ["--record-trace", "x"], ["--netrc", "x"], ["--", "x"], ["x"], [""], ["--rate"], ["--fast=1"],
            ["--cookies=x"], ["-vo", "x"], ["--throttle=x.csv"],
        ])
    func refused(arguments: [String]) {
        #expect(throws: RecordedOptions.Refusal.self) { try RecordedOptions.checked(arguments) }
    }

    @Test("kept options can be read again")
    func roundTrip() throws {
        let line = ["play", "--rate", "-2", "URL", "--no-video", "--to=3", "-o", "x", "--audio", "lang=de"]
        let kept = RecordedOptions.kept(of: line)
        #expect(try RecordedOptions.checked(kept) == ["--rate=-2", "--no-video", "--to=3", "--audio=lang=de"])
    }
}
