import HLSKitPlaylist
import TestSupport
import Testing

@testable import HLSKitSelection

@Suite("Delivery directives")
struct DeliveryDirectivesTests {
    private static func delta(_ control: String) throws -> DeltaUpdate {
        var text = PlaylistText.numbered(0, count: 10)
        text.header = ["#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24" + control]
        let tracker = PlaylistTracker(
            try text.parsed(), requestURL: "list", url: "list", start: .zero, loadBegan: .zero, now: .zero)
        return try #require(DeltaUpdate(after: tracker, at: .zero))
    }

    @Test(
        "C10: directives are part of the request URL, but not of the playlist's URL",
        arguments: ["https://host/a", "https://host/a?b=1"])
    func urls(plain: String) throws {
        let delta = try Self.delta("")
        let mark = plain.contains("?") ? "&" : "?"
        let cases: [(DeliveryDirectives, String)] = [
            (DeliveryDirectives(), ""),
            (DeliveryDirectives(awaited: PartPosition(sequence: 7)), mark + "_HLS_msn=7"),
            (DeliveryDirectives(awaited: PartPosition(sequence: 7, part: 0)), mark + "_HLS_msn=7&_HLS_part=0"),
            (DeliveryDirectives(delta: delta), mark + "_HLS_skip=YES"),
            (DeliveryDirectives(delta: try Self.delta(",CAN-SKIP-DATERANGES=YES")), mark + "_HLS_skip=v2"),
            (
                DeliveryDirectives(awaited: PartPosition(sequence: 7, part: 2), delta: delta),
                mark + "_HLS_msn=7&_HLS_part=2&_HLS_skip=YES"
            ),
        ]
        for (directives, query) in cases {
            #expect(directives.url(of: plain) == plain + query)
            if !query.isEmpty { #expect(directives.url(of: plain + "#part") == plain + query) }
            #expect(directives.url(answering: plain + query) == plain)
            // A redirect may have dropped the query.
            #expect(directives.url(answering: "https://other/c?d=2") == "https://other/c?d=2")
        }
    }

    @Test("a segment position sorts after its parts and before the next segment's")
    func order() {
        let positions = [
            PartPosition(sequence: 4), PartPosition(sequence: 5, part: 0), PartPosition(sequence: 5, part: 3),
            PartPosition(sequence: 5), PartPosition(sequence: 6, part: 0),
        ]
        #expect(positions == positions.shuffled().sorted())
    }
}
