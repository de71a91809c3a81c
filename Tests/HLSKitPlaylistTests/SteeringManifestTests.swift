import HLSKitPlaylist
import Testing

@Suite("Steering manifests")
struct SteeringManifestTests {
    struct Row: CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var manifest: SteeringManifest
        var issueCount = 0
    }

    private static func manifest(
        _ priority: [String], seconds: Double = 300, reload: String? = nil, clones: [PathwayClone] = []
    ) -> SteeringManifest {
        var manifest = SteeringManifest(priority: priority)
        manifest.timeToLive = .milliseconds(Int64(seconds * 1000))
        manifest.reloadURI = reload
        manifest.clones = clones
        return manifest
    }

    private static func clone(_ id: String, of base: String, _ change: (inout PathwayClone) -> Void) -> PathwayClone {
        var clone = PathwayClone(id: id, baseID: base)
        change(&clone)
        return clone
    }

    static let rows: [Row] = [
        Row(
            testDescription: "the least", text: #"{"VERSION":1,"PATHWAY-PRIORITY":["A"]}"#, manifest: manifest(["A"])),
        Row(
            testDescription: "all of it",
            text: """
                {"VERSION":1,"TTL":10,"RELOAD-URI":"next?a=b","PATHWAY-PRIORITY":["B","A"],"OTHER":[{}],
                "PATHWAY-CLONES":[{"BASE-ID":"A","ID":"C","URI-REPLACEMENT":{"HOST":"c.example","PARAMS":{"t":"1"},
                "PER-VARIANT-URIS":{"v":"u"},"PER-RENDITION-URIS":{"r":"w"}}}]}
                """,
            manifest: manifest(
                ["B", "A"], seconds: 10, reload: "next?a=b",
                clones: [
                    clone("C", of: "A") {
                        $0.host = "c.example"
                        $0.parameters = ["t": "1"]
                        $0.variantURIs = ["v": "u"]
                        $0.renditionURIs = ["r": "w"]
                    }
                ])),
        Row(
            testDescription: "a fraction of a second",
            text: #"{"VERSION":1,"TTL":1.5,"PATHWAY-PRIORITY":["A"]}"#, manifest: manifest(["A"], seconds: 1.5)),
        Row(
            testDescription: "no time at all", text: #"{"VERSION":1,"TTL":0,"PATHWAY-PRIORITY":["A"]}"#,
            manifest: manifest(["A"], seconds: 1), issueCount: 1),
        Row(
            testDescription: "a time beyond all numbers", text: #"{"VERSION":1,"TTL":1e300,"PATHWAY-PRIORITY":["A"]}"#,
            manifest: manifest(["A"], seconds: 86_400), issueCount: 1),
        Row(
            testDescription: "a time before now", text: #"{"VERSION":1,"TTL":-3,"PATHWAY-PRIORITY":["A"]}"#,
            manifest: manifest(["A"]), issueCount: 1),
        Row(
            testDescription: "a time in words", text: #"{"VERSION":1,"TTL":"10","PATHWAY-PRIORITY":["A"]}"#,
            manifest: manifest(["A"]), issueCount: 1),
        Row(
            testDescription: "entries of other kinds, and twice",
            text: #"{"VERSION":1,"PATHWAY-PRIORITY":["B",7,"","B",null,"A"]}"#, manifest: manifest(["B", "A"]),
            issueCount: 4),
        Row(
            testDescription: "characters that no pathway has",
            text: #"{"VERSION":1,"PATHWAY-PRIORITY":["a b"]}"#, manifest: manifest(["a b"]), issueCount: 1),
        Row(
            testDescription: "no place to go next",
            text: #"{"VERSION":1,"RELOAD-URI":{},"PATHWAY-PRIORITY":["A"]}"#, manifest: manifest(["A"]),
            issueCount: 1),
        Row(
            testDescription: "clones that are none",
            text: """
                {"VERSION":1,"PATHWAY-PRIORITY":["A"],"PATHWAY-CLONES":[7,{"ID":"C"},{"ID":"C","BASE-ID":"A"},
                {"ID":"A","BASE-ID":"A","URI-REPLACEMENT":{}},{"ID":"","BASE-ID":"A","URI-REPLACEMENT":{}},
                {"ID":"D","BASE-ID":"A","URI-REPLACEMENT":{}},{"ID":"D","BASE-ID":"A","URI-REPLACEMENT":{}}]}
                """,
            manifest: manifest(["A"], clones: [PathwayClone(id: "D", baseID: "A")]), issueCount: 6),
        Row(
            testDescription: "hosts and parameters that are none",
            text: """
                {"VERSION":1,"PATHWAY-PRIORITY":["A"],"PATHWAY-CLONES":[{"ID":"C","BASE-ID":"A","URI-REPLACEMENT":
                {"HOST":"evil.example/x?","PARAMS":{"":"1","a":2,"b":"3"},"PER-VARIANT-URIS":[]}}]}
                """,
            manifest: manifest(["A"], clones: [clone("C", of: "A") { $0.parameters = ["b": "3"] }])),
        Row(
            testDescription: "clones that are no list",
            text: #"{"VERSION":1,"PATHWAY-PRIORITY":["A"],"PATHWAY-CLONES":{}}"#, manifest: manifest(["A"]),
            issueCount: 1),
    ]

    @Test("P04: a manifest's members are read", arguments: rows)
    func says(_ row: Row) throws {
        var manifest = try SteeringManifest(parsing: row.text.utf8)
        #expect(manifest.issues.count == row.issueCount)
        manifest.issues = []
        #expect(manifest == row.manifest)
    }

    static let nonsense = [
        "", "null", "[]", "{", #"{"VERSION":2,"PATHWAY-PRIORITY":["A"]}"#, #"{"PATHWAY-PRIORITY":["A"]}"#,
        #"{"VERSION":1}"#, #"{"VERSION":1,"PATHWAY-PRIORITY":[]}"#, #"{"VERSION":1,"PATHWAY-PRIORITY":"A"}"#,
        #"{"VERSION":1,"PATHWAY-PRIORITY":[1,2]}"#, #"{"VERSION":1,"PATHWAY-PRIORITY":["A"]} x"#,
        "<html>404</html>", String(repeating: "[", count: 100_000), #"{"VERSION":1e999,"PATHWAY-PRIORITY":["A"]}"#,
        #"{"VERSION":1,"PATHWAY-PRIORITY":["A"],"X":""# + String(repeating: "x", count: 1 << 18) + #""}"#,
    ]

    @Test("P04: an invalid manifest is refused without a trap", arguments: nonsense)
    func refused(_ text: String) {
        #expect(throws: SteeringManifest.Invalid.self) { try SteeringManifest(parsing: text.utf8) }
    }

    @Test("P04: truncated and damaged manifests never trap")
    func damaged() {
        let bytes = Array(Self.rows[1].text.utf8)
        for index in bytes.indices {
            _ = SteeringManifest.read(bytes[..<index])
            for byte in [0x00, 0x22, 0x2D, 0x39, 0x5C, 0x7D, 0xFF] as [UInt8] {
                var bytes = bytes
                bytes[index] = byte
                _ = SteeringManifest.read(bytes)
            }
        }
    }

    @Test("P04: lists over the limit are truncated")
    func long() throws {
        let ids = (0..<1000).map { "\"P\($0)\"" }.joined(separator: ",")
        let manifest = try SteeringManifest(parsing: "{\"VERSION\":1,\"PATHWAY-PRIORITY\":[\(ids)]}".utf8)
        #expect(manifest.priority.count == SteeringManifest.maximumCount)
        #expect(manifest.issues.count == 8)
    }
}
