import HLSGetKit
import HLSKitCore
import TestSupport
import Testing

@testable import HLSGetWatch

@Suite("Text of a window")
struct ScreenTextTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var state: PlayerState
        var line: String
        var testDescription: String { name }
    }

    private static func buffering(ahead: Int64, of goal: Duration?) -> PlayerState {
        var state = PlayerState.sample(.waitingToPlayAtSpecifiedRate, .toMinimizeStalls, loadedUntil: 12 + ahead)
        state.bufferingGoal = goal
        return state
    }

    static let cases: [Case] = [
        Case(name: "nothing known", state: PlayerState(), line: "0:00  paused"),
        Case(name: "playing", state: .sample(.playing), line: "0:12 / 9:56  360p"),
        Case(
            name: "faster",
            state: {
                var state = PlayerState.sample(.playing)
                (state.rate, state.timebaseRate) = (1.5, 1.4)
                return state
            }(), line: "0:12 / 9:56  1.5x  360p"),
        Case(name: "paused", state: .sample(.paused), line: "0:12 / 9:56  paused  360p"),
        Case(
            name: "first measurement",
            state: .sample(.waitingToPlayAtSpecifiedRate, .evaluatingBufferingRate, at: 0, loadedUntil: 0),
            line: "0:00 / 9:56  buffering  360p"),
        Case(
            name: "buffering", state: buffering(ahead: 4, of: .seconds(10)), line: "0:12 / 9:56  buffering 40 %  360p"),
        Case(
            name: "more than the goal", state: buffering(ahead: 40, of: .seconds(10)),
            line: "0:12 / 9:56  buffering 100 %  360p"),
        Case(name: "no goal", state: buffering(ahead: 4, of: nil), line: "0:12 / 9:56  buffering  360p"),
        Case(name: "empty goal", state: buffering(ahead: 4, of: .zero), line: "0:12 / 9:56  buffering  360p"),
        Case(name: "live", state: .liveSample(), line: "live, 0:08 behind  360p"),
        Case(
            name: "ad", state: .inBreak(.eligible), line: "0:12 / 9:56  interstitial 1/2, 0:11 left, n skips  360p"),
        Case(
            name: "failed",
            state: {
                var state = PlayerState()
                state.itemStatus = .failed
                return state
            }(), line: "0:00  failed"),
    ]

    @Test("the text has a viewer's words", arguments: cases)
    func words(example: Case) {
        #expect(ScreenText(columns: 60).lines(example.state) == [example.line])
    }

    @Test("with details the text is the status line")
    func details() {
        let text = ScreenText(columns: 120, showsDetails: true).lines(.sample(.playing))
        #expect(text == ["0:12 / 9:56  playing 1x  +12.0s keep-up  360p 800k  net 2.4M  0 stalls"])
    }

    @Test("the key help is whole at every width", arguments: [20, 49, 80, 121, 200])
    func help(columns: Int) {
        let lines = ScreenText(message: WindowCommand.help, columns: columns).lines(.sample(.paused))
        #expect(lines.allSatisfy { $0.count <= columns })
        guard columns >= 49 else { return }
        #expect(lines.dropLast().joined(separator: " ") == WindowCommand.help)
    }

    @Test("an endless message leaves room for the status")
    func endless() {
        let lines = ScreenText(message: String(repeating: "x", count: 10_000), columns: 30).lines(.sample(.paused))
        #expect(lines.count == 7 && lines.last == "0:12 / 9:56  paused  360p")
    }

    @Test(
        "a window has the name of its files",
        arguments: [
            ("https://a.b/show/master.m3u8?x=y", "show"), ("https://a.b/film.m3u8", "film"),
            ("https://a.b/index.m3u8", "index.m3u8"), ("file:///tmp/x/trailer.m3u8#t", "trailer"),
        ])
    func names(url: String, name: String) { #expect(WatchStage.name(of: url) == name) }
}
