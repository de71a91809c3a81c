import HLSKitCore
import HLSKitSimulation
import Testing

/// A low-latency stream that ends. Parts last 0.5 s, four to a segment.
@Suite("End of playback with parts", .timeLimit(.minutes(10)))
struct PartEndTests {
    enum Parts: CaseIterable, Sendable { case stay, go }

    @Test(
        "M07: when the playlist ends nothing is loaded twice, with or without parts", arguments: Parts.allCases
    )
    func endList(_ parts: Parts) throws {
        for addressing in [LowLatencyOrigin.Addressing.files, .ranges] {
            var stage = PartStage()
            stage.origin.addressing = addressing
            stage.origin.segmentCount = 12
            if parts == .go {
                stage.answer = { request, response in
                    guard request.urlString.contains("live.m3u8") else { return response }
                    let text = String(decoding: response.body, as: UTF8.self)
                    guard text.contains("#EXT-X-ENDLIST") else { return response }
                    var response = response
                    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#EXT-X-PART:") }
                    response.body = Array((lines.joined(separator: "\n") + "\n").utf8)
                    return response
                }
            }
            let session = try stage.play()
            #expect(session.count("played to end") == 1, "\(session.play.log.text)")
            #expect(session.stallCount + session.lossCount == 0)
            let names = session.visits.names
            // A part that was never listed is available only in its segment.
            if parts == .stay || addressing == .files { #expect(Set(names).count == names.count, "\(names)") }
            if addressing == .files {
                #expect(names.filter { !$0.contains(".") } == (parts == .go ? ["1/11"] : []), "\(names)")
            }
            #expect(names.last?.contains("11") == true)
            #expect(session.presented.breaks.isEmpty)
            // From 1.5 s before the edge to the end, at 25 frames per second.
            #expect(session.presented.frames.last.map { $0 > .milliseconds(23_900) } == true)
        }
    }
}
