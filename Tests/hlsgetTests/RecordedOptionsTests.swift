import Testing

@testable import hlsget

@Suite("what a recording keeps of the command line")
struct RecordedOptionsTests {
    @Test(
        "options that decide are kept, everything else is not",
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
}
