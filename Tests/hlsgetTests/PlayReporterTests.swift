import HLSKitCore
import Synchronization
import Testing

@testable import hlsget

@Suite("play reporter")
struct PlayReporterTests {
    private final class Stream: Sendable {
        private let text = Mutex("")
        func write(_ new: String) { text.withLock { $0 += new } }
        var lines: [String] { text.withLock { $0 }.split(separator: "\n").map(String.init) }
    }

    private let output = Stream()
    private let errors = Stream()
    private let screen = Stream()

    private static let skip = PlayerEvent(
        hostTime: .seconds(1),
        kind: .segmentSkipped(
            SkippedSegments(first: 7, last: 7, mediaDuration: .seconds(4), url: "http://a/7.ts", cause: "HTTP 404")))

    private func reporter(isTerminal: Bool = false, _ change: (inout PlayOptions) -> Void = { _ in }) -> PlayReporter {
        var options = PlayOptions(url: "http://a/x")
        change(&options)
        let terminal = Terminal(isTerminal: true, width: 80) { $0 == "TERM" ? "dumb" : nil }
        let display = StatusDisplay(terminal: terminal, width: { 80 }, write: screen.write)
        return PlayReporter(
            options: options, display: isTerminal ? display : nil, standardOutput: output.write,
            standardError: errors.write)
    }

    @Test("without a terminal there are warnings and a summary, and nothing on stdout")
    func plain() {
        let reporter = reporter()
        reporter.update(.sample(.playing), at: .zero)
        reporter.observe(Self.skip)
        #expect(reporter.finish(.done, elapsed: .seconds(2)) == .done)
        #expect(errors.lines.first?.contains("skipped segment 7") == true)
        #expect(errors.lines.dropFirst().first == "played 0:00 of 9:56 in 2.0 s")
        #expect(output.lines.isEmpty && screen.lines.isEmpty)
    }

    @Test("on a terminal there is a status line that is gone at the end")
    func terminal() {
        let reporter = reporter(isTerminal: true)
        reporter.update(.sample(.playing), at: .zero)
        #expect(screen.lines.last?.contains("playing 1x") == true)
        _ = reporter.finish(.done, elapsed: .seconds(2))
        #expect(screen.lines.last?.hasSuffix(" \r") == true)
        #expect(errors.lines.first?.hasPrefix("played") == true)
    }

    @Test("JSON lines take the place of everything for people but the error")
    func json() {
        let reporter = reporter(isTerminal: true) { $0.progress = .json }
        reporter.update(.sample(.playing), at: .zero)
        reporter.observe(Self.skip)
        let error = PlayerError(code: .network, cause: "timed out")
        #expect(reporter.finish(.network, error: error, elapsed: .seconds(2)) == .network)
        #expect(errors.lines.count == 5)
        #expect(errors.lines.dropLast().allSatisfy { $0.hasPrefix(#"{"v":1,"event":""#) && $0.hasSuffix("}") })
        #expect(
            errors.lines[3].hasPrefix(#"{"v":1,"event":"summary""#) && errors.lines[3].contains(#""exit_status":4"#))
        #expect(errors.lines.last == "hlsget: error: timed out")
        #expect(screen.lines.isEmpty)
    }

    @Test("quiet leaves the error alone")
    func quiet() {
        let reporter = reporter(isTerminal: true) { $0.verbosity = .quiet }
        reporter.update(.sample(.playing), at: .zero)
        reporter.observe(Self.skip)
        _ = reporter.finish(.stale, error: PlayerError(code: .staleLive, cause: "stale"), elapsed: .zero)
        #expect(errors.lines == ["hlsget: error: stale"])
        #expect(screen.lines.isEmpty)
    }

    @Test("strict makes what is missing the error")
    func strict() {
        let complete = reporter { $0.isStrict = true }
        #expect(complete.finish(.done, elapsed: .zero) == .done)
        let incomplete = reporter { $0.isStrict = true }
        incomplete.observe(Self.skip)
        #expect(incomplete.finish(.done, elapsed: .zero) == .incomplete)
        #expect(errors.lines.last == "hlsget: error: incomplete: segment 7: http://a/7.ts (HTTP 404)")
        let failed = reporter { $0.isStrict = true }
        failed.observe(Self.skip)
        #expect(failed.finish(.interrupted(signal: 2), elapsed: .zero).rawValue == 130)
    }

    @Test("the document is one line on stdout")
    func document() {
        let reporter = reporter { $0.printsSummaryDocument = true }
        _ = reporter.finish(.done, elapsed: .zero)
        #expect(output.lines.count == 1)
        #expect(output.lines.first?.hasPrefix(#"{"v":1,"url":"http://a/x","exit_status":0"#) == true)
    }
}
