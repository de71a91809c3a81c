import Testing

@testable import HLSGetKit

@Suite("Last line of a download")
struct DownloadSummaryTests {
    @Test(
        "the line names only the first and last of more than three files",
        arguments: [
            (1, "0:00 in e-1.ts (0 segments, 0 B)"), (3, "0:00 in e-1.ts, e-2.ts, e-3.ts (0 segments, 0 B)"),
            (30, "0:00 in 30 files, e-1.ts to e-30.ts (0 segments, 0 B)"),
        ])
    func names(count: Int, line: String) {
        var summary = DownloadSummary(url: "http://a/b.m3u8", exitStatus: .done)
        summary.files = (1...count).map { "e-\($0).ts" }
        #expect(summary.line == line)
    }
}
