import HLSKitPlaylist
import Testing

@Suite("Asset lists of interstitials") struct InterstitialAssetListTests {
    typealias Asset = InterstitialAssetList.Asset
    typealias SkipControl = InterstitialSkipControl

    struct Row: Sendable, CustomTestStringConvertible {
        var text: String
        var assets: [Asset] = []
        var skipControl: SkipControl?
        var issueCount = 0
        var testDescription: String { String(text.prefix(80)) }
    }

    private static let a = Asset(uri: "a", duration: .seconds(10))

    static let rows: [Row] = [
        Row(text: #"{"ASSETS":[]}"#),
        Row(text: #"{"ASSETS":[{"URI":"a","DURATION":10}]}"#, assets: [a]),
        Row(
            text: #"{"ASSETS":[{"URI":"a","DURATION":10},{"URI":"b","DURATION":12.012}],"OTHER":{}}"#,
            assets: [a, Asset(uri: "b", duration: .nanoseconds(12_012_000_000))]),
        Row(text: "\u{FEFF}" + #" {"ASSETS" : [ {"URI":"a","DURATION":"10"} ] } "#, assets: [a]),
        Row(text: #"{"ASSETS":[{"URI":"a","DURATION":0}]}"#, assets: [Asset(uri: "a", duration: .zero)]),
        Row(text: #"{"ASSETS":[{"URI":"a"}]}"#, assets: [Asset(uri: "a", duration: nil)], issueCount: 1),
        Row(
            text: #"{"ASSETS":[{"URI":"a","DURATION":-1},{"URI":"b","DURATION":1e300},{"URI":"c","DURATION":"nan"}]}"#,
            assets: ["a", "b", "c"].map { Asset(uri: $0, duration: nil) }, issueCount: 3),
        Row(
            text: #"{"ASSETS":[7,null,{"DURATION":3},{"URI":""},{"URI":9},{"URI":"a","DURATION":10}]}"#, assets: [a],
            issueCount: 5),
        Row(
            text: #"{"ASSETS":[],"SKIP-CONTROL":{"OFFSET":5,"DURATION":2.5,"LABEL-ID":"s"}}"#,
            skipControl: SkipControl(offset: .seconds(5), duration: .milliseconds(2500), labelID: "s")),
        Row(
            text: #"{"ASSETS":[],"SKIP-CONTROL":{"OFFSET":-5,"DURATION":[],"LABEL-ID":"s"}}"#,
            skipControl: SkipControl(labelID: "s"), issueCount: 2),
        Row(text: #"{"ASSETS":[],"SKIP-CONTROL":{}}"#, skipControl: SkipControl()),
        Row(text: #"{"ASSETS":[],"SKIP-CONTROL":true}"#, issueCount: 1),
        Row(
            text: #"{"ASSETS":["# + String(repeating: #"{"URI":"a","DURATION":10},"#, count: 299)
                + #"{"URI":"a","DURATION":10}]}"#, assets: Array(repeating: a, count: 256), issueCount: 1),
        Row(text: #"{"ASSETS":["# + String(repeating: "0,", count: 50) + "0]}", issueCount: 8),
    ]

    @Test("a list is read as far as it is valid", arguments: rows)
    func says(_ row: Row) throws {
        let list = try InterstitialAssetList(parsing: Array(row.text.utf8))
        #expect(list.assets == row.assets)
        #expect(list.skipControl == row.skipControl)
        #expect(list.issues.count == row.issueCount, "\(list.issues)")
    }

    @Test(
        "an invalid list is refused with the reason",
        arguments: [
            ("", "JSON"), ("[]", "JSON"), ("{}", "ASSETS"), (#"{"ASSETS":{}}"#, "ASSETS"),
            (#"{"assets":[]}"#, "ASSETS"),
            (#"{"ASSETS":[]"#, "JSON"), ("<html>", "JSON"), (String(repeating: "[", count: 5000), "JSON"),
            (#"{"ASSETS":[],"X":""# + String(repeating: "x", count: 1 << 20) + #""}"#, "larger"),
        ])
    func refuses(text: String, reason: String) {
        switch InterstitialAssetList.read(Array(text.utf8)) {
        case .success(let list): Issue.record("\(list)")
        case .failure(let error): #expect(error.description.contains(reason))
        }
    }

    @Test("client attributes are kept on the list and on its assets")
    func clientAttributes() throws {
        let text = #"{"ASSETS":[{"URI":"a","DURATION":1,"X-ID":"7","other":1}],"X-AD":{"version":2},"Y":0}"#
        let list = try InterstitialAssetList(parsing: Array(text.utf8))
        #expect(list.clientAttributes == ["X-AD": .object(["version": .number(2)])])
        #expect(list.assets.first?.clientAttributes == ["X-ID": .string("7")])
    }

    @Test("a list's duration is known if each asset's is")
    func duration() {
        let b = Asset(uri: "b", duration: nil)
        #expect(InterstitialAssetList(assets: []).duration == .zero)
        #expect(InterstitialAssetList(assets: [Self.a, Self.a]).duration == .seconds(20))
        #expect(InterstitialAssetList(assets: [Self.a, b]).duration == nil)
    }
}
