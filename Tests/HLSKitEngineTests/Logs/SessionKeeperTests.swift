import HLSKitPlaylist
import Testing

@testable import HLSKitEngine

@Suite("Sessions of items")
struct SessionKeeperTests {
    private static func keeper(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> SessionKeeper {
        var configuration = EngineConfiguration()
        change(&configuration)
        return SessionKeeper(configuration)
    }

    private static let view = SessionLogger.View(
        now: .seconds(1), playhead: .zero, watched: .zero, isExpensive: false, isLive: false, itemURL: "a",
        loadedTimeRanges: [], playlistURLs: [:])

    private static let item = EngineItem(url: "a", diary: ItemLog())

    @Test("an item is a session if a diary or servers are informed about it")
    func session() {
        var keeper = Self.keeper()
        let quiet = keeper.session(of: EngineItem(url: "a"))
        #expect(quiet == nil)
        let (first, second) = (keeper.session(of: Self.item), keeper.session(of: Self.item))
        #expect(first?.diary === Self.item.diary)
        #expect(first != nil && first != second)
        var telling = Self.keeper { $0.sendsSessionID = true }
        let reported = telling.session(of: EngineItem(url: "a"))
        #expect(reported == first)
        #expect(reported?.diary == nil)
        var named = Self.keeper { $0.sessionID = "mine" }
        let own = named.session(of: Self.item)
        #expect(own?.id == "mine")
    }

    @Test("a journal belongs to one session and closes when another begins")
    func journal() {
        var keeper = Self.keeper()
        #expect(!keeper.isOther(than: nil))
        let (first, second) = (keeper.session(of: Self.item), keeper.session(of: Self.item))
        #expect(keeper.isOther(than: first))
        keeper.open(first, epoch: PlaylistDate(seconds: 0), isCurrent: true, at: .zero)
        #expect(!keeper.isOther(than: first))
        #expect(keeper.isOther(than: second))
        #expect(keeper.isOther(than: nil))
        let reported = keeper.close(Self.view)
        let isClosed = reported.contains { if case .diary(_, .closed) = $0 { true } else { false } }
        #expect(isClosed)
        #expect(keeper.journal == nil)
        let again = keeper.close(Self.view)
        #expect(again.isEmpty)
    }

    @Test("a seek is logged unless it was refused")
    func seek() {
        let request = SeekRequest(destination: .time(.zero))
        for isRefused in [false, true] {
            var keeper = Self.keeper()
            let session = keeper.session(of: Self.item)
            keeper.open(session, epoch: PlaylistDate(seconds: 0), isCurrent: true, at: .zero)
            let effects = isRefused ? [EngineEffect.seekRefused] : []
            let reported = keeper.look(at: .control(.seek(request)), effects, hasStart: true, Self.view)
            let isReported = reported.contains {
                if case .diary(_, .metric(let event)) = $0 { event is MetricPlayerItemSeekEvent } else { false }
            }
            #expect(isReported == !isRefused)
        }
    }
}
