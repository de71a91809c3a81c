import HLSKitLoading
import HLSKitMedia
import HLSKitSimulation
import Testing

@testable import HLSKitEngine
@testable import HLSKitPlayback

@Suite("Settings of items")
struct ItemSettingsTests {
    private static func player() -> (Player, PlayerItem) {
        let clock = VirtualClock()
        let network = NetworkTrace(constant: LinkConditions(bitsPerSecond: 1_000_000))
        let transport = SimulatedTransport(over: network, clock: clock) { _ in SimulatedResponse(body: []) }
        let player = Player(configuration: PlayerConfiguration(clock: clock, transport: transport))
        return (player, PlayerItem(urlString: "http://sample/list.m3u8"))
    }

    #if DEBUG
        @Test("item settings are read under the player's lock, so the last writer wins")
        func order() throws {
            let (player, item) = Self.player()
            try player.replaceCurrentItem(with: item)
            let core = player.core
            let before = core.state.acquisitionCount
            var preferences = PlayerItemPreferences()
            var counts: [Int] = []
            func newest() -> EngineControl {
                counts.append(core.state.acquisitionCount)
                preferences.preferredPeakBitRate = 1_000_000
                return .setPreferences(preferences)
            }
            core.control(newest(), of: item)
            #expect(counts == [before + 1])
            #expect(core.read(of: item) { $0.preferences.preferredPeakBitRate } == 1_000_000)
        }
    #endif

    @Test("each setting reaches the player without changing the others")
    func settings() throws {
        let (player, item) = Self.player()
        item.preferredPeakBitRate = 1
        try player.replaceCurrentItem(with: item)
        item.startsOnFirstEligibleVariant = true
        item.displaySize = PixelSize(width: 640, height: 360)
        item.setTrack(.video, isEnabled: false)
        item.setTrack(.audio, isEnabled: false)
        item.setTrack(.video, isEnabled: true)
        let core = player.core
        #expect(core.read(of: item) { $0.preferences } == item.preferences)
        #expect(item.preferences.preferredPeakBitRate == 1)
        #expect(core.read(of: item) { $0.item?.tracks.disabled } == [.audio])
    }
}
