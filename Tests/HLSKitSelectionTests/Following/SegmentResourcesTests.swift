import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import Testing

@Suite("Resources that a segment needs")
struct SegmentResourcesTests {
    private static let base = "http://a.example/v/list.m3u8"

    private struct Case: CustomTestStringConvertible {
        var name: String
        var tags: String
        var formats: Set<String> = []
        /// The URLs of all maps and keys. `cause` and `detail` describe a key's error instead.
        var ids: [String] = []
        var cause: String?
        var detail: String?
        var testDescription: String { name }
    }

    private static let clear = "#EXT-X-MAP:URI=\"i.mp4\",BYTERANGE=\"10@5\""
    private static let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k.bin\""
    private static let drm = "#EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI=\"d.bin\",KEYFORMAT=\"com.example\""

    private static let cases = [
        Case(name: "nothing", tags: ""),
        Case(name: "a map", tags: clear, ids: ["http://a.example/v/i.mp4 5..<15"]),
        Case(name: "a key", tags: key, ids: ["http://a.example/v/k.bin"]),
        Case(
            name: "one key of both is asked for once, and the map to the end of its last block",
            tags: key + "\n" + clear,
            ids: ["http://a.example/v/i.mp4 5..<21", "http://a.example/v/k.bin"]),
        Case(
            name: "a map is clear where samples are encrypted",
            tags: "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"s.bin\"\n" + clear,
            ids: ["http://a.example/v/i.mp4 5..<15", "http://a.example/v/s.bin"]),
        Case(
            name: "a format that nobody has keys of", tags: drm, cause: "no supported key system",
            detail: "SAMPLE-AES-CTR (com.example)"),
        Case(name: "a format of the program", tags: drm, formats: ["com.example"], ids: ["http://a.example/v/d.bin"]),
        Case(
            name: "of alternatives, what the network gives", tags: drm + "\n" + key, formats: ["com.example"],
            ids: ["http://a.example/v/k.bin"]),
        Case(
            name: "a method that is not known", tags: "#EXT-X-KEY:METHOD=ROT-13,URI=\"k.bin\"",
            cause: "no supported key system", detail: "ROT-13 (identity)"),
    ]

    @Test("a segment's map and keys are listed", arguments: cases)
    private func resources(_ c: Case) throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n\(c.tags)\n#EXTINF:4,\n1.ts\n"
        guard case .media(let playlist) = try Playlist(parsing: Array(text.utf8), url: Self.base),
            let segment = playlist.segments.first
        else {
            Issue.record("no media playlist")
            return
        }
        do {
            let tracker = PlaylistTracker(
                playlist, requestURL: Self.base, url: Self.base, start: .zero, loadBegan: .zero, now: .zero)
            let resources = try SegmentResources(
                of: segment, at: Self.base, in: tracker, keys: KeyRules(formats: c.formats))
            let ids = resources.all.map { id in
                id.url + (id.byteRange.map { " \($0)" } ?? "")
            }
            #expect(ids == c.ids && c.cause == nil)
            #expect(resources.key.map { $0.initializationVector.last == 7 } ?? true)
            #expect(resources.mapKey.map { !$0.isOfSamples } ?? true)
        } catch {
            #expect(error.cause == c.cause && error.detail == c.detail && error.code == .contentKey)
        }
    }
}
