import HLSKitCore
import Synchronization
import TestSupport
import Testing

@testable import HLSGetKit

@Suite("Status line")
struct StatusLineTests {
    struct Case: CustomTestStringConvertible {
        var name: String
        var state: PlayerState
        var width = 120
        var allowsUnicode = false
        var line: String
        var testDescription: String { "\(name), \(width) columns" }
    }

    static let cases: [Case] = [
        Case(
            name: "before anything is known", state: PlayerState(),
            line: "0:00 / -:-- [|-------------------]  paused  +0.0s empty  0 stalls"),
        Case(
            name: "finding out how fast media arrives",
            state: .sample(.waitingToPlayAtSpecifiedRate, .evaluatingBufferingRate, at: 0, loadedUntil: 0), width: 140,
            line:
                "0:00 / 9:56 [|-------------------------------]  waiting: evaluating buffering rate 1x, timebase 0x  +0.0s empty  360p 800k  net 2.4M"
        ),
        Case(
            name: "waiting for media",
            state: .sample(.waitingToPlayAtSpecifiedRate, .toMinimizeStalls, loadedUntil: 16),
            line:
                "0:12 / 9:56 [|-------------------]  waiting to minimize stalls 1x, timebase 0x  +4.0s  360p 800k  net 2.4M  0 stalls"
        ),
        Case(
            name: "waiting for media",
            state: .sample(.waitingToPlayAtSpecifiedRate, .toMinimizeStalls, loadedUntil: 16),
            width: 80, line: "0:12 / 9:56 [|-----------]  waiting to minimize stalls  +4.0s  360p  net 2.4M"),
        Case(
            name: "playing", state: .sample(.playing, at: 298, loadedUntil: 400),
            line: "4:58 / 9:56 [==========|===------]  playing 1x  +102s keep-up  360p 800k  net 2.4M  0 stalls"),
        Case(
            name: "playing", state: .sample(.playing, at: 298, loadedUntil: 400), allowsUnicode: true,
            line: "4:58 / 9:56 ━━━━━━━━━━●━━╾──────  playing 1x  +102s keep-up  360p 800k  net 2.4M  0 stalls"),
        Case(
            name: "playing, half a cell more", state: .sample(.playing, at: 298, loadedUntil: 410), width: 60,
            allowsUnicode: true, line: "4:58 / 9:56 ━━━━━━●━╾───  playing 1x  +112s keep-up  360p"),
        Case(name: "playing", state: .sample(.playing), width: 40, line: "0:12 / 9:56  playing 1x  +12.0s keep-up"),
        Case(name: "no room for anything", state: .sample(.playing), width: 10, line: "0:12 / 9:"),
        Case(name: "no room at all", state: .sample(.playing), width: 0, line: ""),
        Case(
            name: "live", state: .liveSample(), allowsUnicode: true,
            line: "1:01:40 live -8.3s ───────────────╼━●━╾  playing 1x  +12.0s keep-up  360p 800k  net 2.4M  0 stalls"),
        Case(
            name: "live, with its latency",
            state: {
                var state = PlayerState.liveSample()
                state.liveLatency = .milliseconds(9620)
                return state
            }(), width: 140,
            line:
                "1:01:40 live -8.3s [-------------------------==|===-]  playing 1x  +12.0s keep-up  latency 9.6s  360p 800k  net 2.4M  0 stalls"
        ),
        Case(
            name: "stalls and a full buffer, slower than asked",
            state: {
                var state = PlayerState.sample(.playing)
                state.rate = 2
                state.timebaseRate = 1.5
                state.isPlaybackBufferFull = true
                state.statistics.numberOfStalls = 1
                return state
            }(),
            line:
                "0:12 / 9:56 [|-------------------]  playing 2x, timebase 1.5x  +12.0s keep-up full  360p 800k  net 2.4M  1 stall"
        ),
        Case(
            name: "an interstitial", state: .inBreak(.notSkippable),
            line:
                "0:12 / 9:56 [|-------------------]  interstitial 1/2, 0:11 left  +12.0s  360p 800k  net 2.4M  0 stalls"
        ),
        Case(
            name: "an interstitial that may be skipped", state: .inBreak(.eligible), width: 60,
            line: "0:12 / 9:56  interstitial 1/2, 0:11 left, n skips"),
        Case(
            name: "failed",
            state: {
                var state = PlayerState()
                state.itemStatus = .failed
                return state
            }(), width: 40, line: "0:00 / -:--  failed  +0.0s empty"),
    ]

    @Test("the line describes the player's state in words", arguments: cases)
    func lines(example: Case) {
        let line = StatusLine(width: example.width, allowsUnicode: example.allowsUnicode)
        #expect(line.render(example.state) == example.line)
    }

    @Test(
        "no state makes the line reach the last column",
        arguments: Array(0...45) + [59, 60, 61, 79, 80, 81, 99, 100, 101, 120, 139, 140, 141, 300])
    func neverWraps(width: Int) {
        var states = Self.cases.map(\.state)
        for index in states.indices {
            states[index].statistics.numberOfStalls = .max
            states[index].statistics.throughputEstimate = .infinity
            states[index].timebaseRate = .nan
        }
        for state in states + Self.cases.map(\.state) {
            let line = StatusLine(width: width, allowsUnicode: true).render(state)
            #expect(line.count <= max(0, width - 1))
        }
    }

    @Test("the part before the status keeps its width while time passes")
    func steadyBar() {
        let starts = (0..<596).map { second in
            let state = PlayerState.sample(second % 2 == 0 ? .playing : .paused, at: Int64(second), loadedUntil: 596)
            let line = StatusLine(width: 120).render(state)
            return line.distance(from: line.startIndex, to: line.firstIndex(of: "]") ?? line.startIndex)
        }
        #expect(Set(starts).count == 1)
    }

    @Test("colour changes nothing but the colour")
    func color() {
        for example in Self.cases {
            let plain = StatusLine(width: example.width, allowsUnicode: true).render(example.state)
            let colored = StatusLine(width: example.width, allowsColor: true, allowsUnicode: true).render(example.state)
            #expect(colored.replacing(/\u{1b}\[[0-9]*m/, with: "") == plain)
        }
        #expect(
            StatusLine(width: 80, allowsColor: true).render(.sample(.playing)).contains("\u{1b}[32mplaying\u{1b}[0m"))
    }

    @Test("invalid ranges are not drawn")
    func hostileRanges() {
        var state = PlayerState.sample(.playing)
        state.loadedTimeRanges = [
            MediaTimeRange(start: .indefinite, duration: .seconds(1)),
            MediaTimeRange(start: .zero, duration: .indefinite),
            MediaTimeRange(start: .seconds(.max / 2), duration: .seconds(5)),
            MediaTimeRange(start: .seconds(-50), duration: .seconds(20)),
        ]
        state.currentTime = .seconds(.max / 2)
        state.duration = .indefinite
        #expect(StatusLine(width: 80).render(state).count < 80)
        state.currentTime = .indefinite
        #expect(StatusLine(width: 80).render(state).count < 80)
    }
}

@Suite("Status display")
struct StatusDisplayTests {
    final class Screen: Sendable {
        private let writes = Mutex<[String]>([])
        func write(_ text: String) { writes.withLock { $0.append(text) } }
        var all: [String] { writes.withLock { $0 } }
    }

    let screen = Screen()

    private func display(_ environment: [String: String], width: Int = 80) -> StatusDisplay {
        let terminal = Terminal(isTerminal: true, width: width) { environment[$0] }
        return StatusDisplay(terminal: terminal, width: { width }, write: screen.write)
    }

    @Test("the display is drawn at most ten times a second, and at once for a new status")
    func limit() {
        let display = display(["TERM": "xterm", "NO_COLOR": "1"])
        for tick in 0..<100 { display.update(.sample(.playing, at: Int64(tick)), at: .milliseconds(10 * tick)) }
        #expect(screen.all.count == 10)
        display.update(.sample(.paused), at: .milliseconds(991))
        #expect(screen.all.count == 11)
    }

    @Test("a line is one write over the old one, and the old rest is erased")
    func redraw() {
        let display = display(["TERM": "xterm", "NO_COLOR": "1"])
        display.update(.sample(.playing), at: .zero)
        let line = StatusLine(width: 80).render(.sample(.playing))
        #expect(screen.all == ["\r\(line)\u{1b}[K"])
        display.update(.sample(.playing), at: .seconds(1))
        #expect(screen.all.count == 1, "the same line is not drawn again")
    }

    @Test("on a dumb terminal blanks erase, and no escape is sent")
    func dumb() {
        let display = display(["TERM": "dumb"], width: 100)
        display.update(.sample(.waitingToPlayAtSpecifiedRate, .toMinimizeStalls), at: .zero)
        display.update(.sample(.paused), at: .seconds(1))
        display.print("message")
        display.clear()
        let lengths = screen.all.map { $0.split(separator: "\r").first?.count ?? 0 }
        #expect(screen.all.allSatisfy { !$0.contains("\u{1b}") })
        #expect(lengths[1] >= lengths[0] && lengths[1] < 100)
    }

    @Test("messages are printed above the line, which is then restored")
    func messages() {
        let display = display(["TERM": "xterm", "NO_COLOR": "1"])
        display.print("first")
        display.update(.sample(.playing), at: .zero)
        display.print("second")
        display.finish()
        display.finish()
        display.clear()
        let line = StatusLine(width: 80).render(.sample(.playing))
        #expect(screen.all == ["first\n", "\r\(line)\u{1b}[K", "\r\u{1b}[Ksecond\n\(line)", "\n"])
    }

    @Test("clear leaves nothing behind")
    func clear() {
        let display = display(["TERM": "xterm"])
        display.update(.sample(.playing), at: .zero)
        display.clear()
        #expect(screen.all.last == "\r\u{1b}[K")
    }

    @Test(
        "the environment determines the terminal's abilities",
        arguments: [
            (["TERM": "xterm-256color", "LANG": "en_US.UTF-8"], true, true, true),
            (["TERM": "xterm", "LANG": "C"], true, false, true),
            (["TERM": "xterm", "LC_ALL": "C", "LANG": "C.UTF-8"], true, false, true),
            (["TERM": "xterm", "LC_ALL": "", "LANG": "C.utf8"], true, true, true),
            (["TERM": "xterm", "NO_COLOR": "1"], false, false, true),
            (["TERM": "xterm", "NO_COLOR": ""], true, false, true),
            (["TERM": "dumb", "LANG": "C.UTF-8"], false, true, false), ([:], false, false, false),
        ] as [([String: String], Bool, Bool, Bool)])
    func environment(variables: [String: String], color: Bool, unicode: Bool, escapes: Bool) {
        let terminal = Terminal(isTerminal: true, width: nil) { variables[$0] }
        #expect(terminal.allowsColor == color)
        #expect(terminal.allowsUnicode == unicode)
        #expect(terminal.understandsEscapes == escapes)
        #expect(!terminal.allowsTrueColor)
    }

    @Test("COLORTERM says whether a terminal has 24-bit colours", arguments: ["truecolor", "24bit", "yes", ""])
    func trueColor(value: String) {
        let variables = ["TERM": "xterm", "COLORTERM": value]
        let terminal = Terminal(isTerminal: true, width: nil) { variables[$0] }
        #expect(terminal.allowsTrueColor == ["truecolor", "24bit"].contains(value))
    }
}
