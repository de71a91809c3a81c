import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@Suite("Server requirements for low latency")
struct LowLatencyProfileTests {
    struct Example: CustomTestStringConvertible {
        var name: String
        var control: String? = "CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5"
        var partTarget: String? = "0.5"
        var parts: [String] = ["0.5", "0.5", "0.25"]
        var isAllowed = true
        var isEnded = false
        var keepsPromises = true
        var keepsConnections = true
        var profile: LowLatencyProfile
        var testDescription: String { name }
    }

    private static let half = Duration.milliseconds(500)

    static let examples: [Example] = [
        Example(name: "all of it", profile: .lowLatency),
        Example(name: "no part yet", parts: [], profile: .lowLatency),
        Example(
            name: "a hold-back of two parts", control: "CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.0", profile: .lowLatency),
        Example(name: "parts a little too long", parts: ["0.5", "0.533"], profile: .lowLatency),
        Example(
            name: "ordinary live", control: "CAN-BLOCK-RELOAD=YES", partTarget: nil, parts: [], profile: .ordinary),
        Example(name: "not wanted", isAllowed: false, profile: .ordinary),
        Example(name: "ended", isEnded: true, profile: .ordinary),
        Example(
            name: "nothing is held", control: "PART-HOLD-BACK=1.5", profile: .declined(.holdsNoRequests)),
        Example(name: "nothing is said", control: nil, profile: .declined(.holdsNoRequests)),
        Example(name: "no target", partTarget: nil, profile: .declined(.noPartTarget)),
        Example(
            name: "no hold-back", control: "CAN-BLOCK-RELOAD=YES,HOLD-BACK=6", profile: .declined(.noPartHoldBack)),
        Example(
            name: "a short hold-back", control: "CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.9",
            profile: .declined(.shortPartHoldBack(.milliseconds(900), partTarget: half))),
        Example(
            name: "a long part", parts: ["0.5", "0.75"],
            profile: .declined(.longPart(.milliseconds(750), partTarget: half))),
        Example(name: "it does not hold", keepsPromises: false, profile: .declined(.doesNotHold)),
        Example(
            name: "it closes each connection", keepsConnections: false, profile: .declined(.keepsNoConnections)),
    ]

    @Test("M05: parts are used if the server supports them, otherwise the reason is given", arguments: examples)
    func profiles(_ example: Example) throws {
        for isTrailing in [true, false] {
            var text = PlaylistText.numbered(0, count: 3, targetDuration: 2)
            if let control = example.control { text.header.append("#EXT-X-SERVER-CONTROL:" + control) }
            if let target = example.partTarget { text.header.append("#EXT-X-PART-INF:PART-TARGET=" + target) }
            let parts = example.parts.map { "#EXT-X-PART:DURATION=\($0),URI=\"p.mp4\"" }
            if !isTrailing { text.segments[2].tags = parts }
            text.isEnded = example.isEnded
            let whole = text.text + (isTrailing ? parts.joined(separator: "\n") + "\n" : "")
            let playlist = try MediaPlaylist(parsing: whole, url: "https://host/live.m3u8")
            let profile = LowLatencyProfile(
                of: playlist, isAllowed: example.isAllowed, keepsPromises: example.keepsPromises,
                keepsConnections: example.keepsConnections)
            #expect(profile == example.profile)
            if case .declined(let reason) = profile { #expect(!reason.text.isEmpty) }
        }
    }
}
