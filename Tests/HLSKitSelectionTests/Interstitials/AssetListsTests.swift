import HLSKitPlaylist
import HLSKitTime
import Testing

@testable import HLSKitSelection

@Suite("P01: Asset lists") struct AssetListsTests {
    private let target = Duration.seconds(6)

    private func makeBreak(_ text: String, startOffset: Double = 0) -> InterstitialBreak {
        InterstitialBreak(
            place: .seconds(100), kind: .inside, events: EventWords.all(text).map { $0.event() },
            startOffset: .seconds(startOffset))
    }

    @Test(
        "a list's URL contains the presentation and the offset into its event",
        arguments: [
            ("https://a.example/l", 0, "https://a.example/l?_HLS_primary_id=p"),
            ("https://a.example/l?", 0, "https://a.example/l?_HLS_primary_id=p"),
            ("https://a.example/l?a=b", 0, "https://a.example/l?a=b&_HLS_primary_id=p"),
            ("https://a.example/l?a=b&", 0, "https://a.example/l?a=b&_HLS_primary_id=p"),
            ("https://a.example/l#f", 0, "https://a.example/l?_HLS_primary_id=p#f"),
            ("https://a.example/l#f?g", 2, "https://a.example/l?_HLS_primary_id=p&_HLS_start_offset=2#f?g"),
            ("https://a.example/l", 12.3456, "https://a.example/l?_HLS_primary_id=p&_HLS_start_offset=12.345"),
            ("https://a.example/l", 12.05, "https://a.example/l?_HLS_primary_id=p&_HLS_start_offset=12.05"),
            ("https://a.example/l", 0.5, "https://a.example/l?_HLS_primary_id=p&_HLS_start_offset=0.5"),
            ("https://a.example/l", 3600, "https://a.example/l?_HLS_primary_id=p&_HLS_start_offset=3600"),
            ("app://list", 1, "app://list?_HLS_primary_id=p&_HLS_start_offset=1"),
            ("data:application/json,{}", 1, "data:application/json,{}"),
        ])
    func urls(url: String, offset: Double, expected: String) {
        #expect(AssetLists.url(url, primaryID: "p", startOffset: .seconds(offset)) == expected)
    }

    @Test("the presentation's name is escaped")
    func escaped() {
        let url = AssetLists.url("https://a.example/", primaryID: "a&b=ü", startOffset: .zero)
        #expect(url == "https://a.example/?_HLS_primary_id=a%26b%3D%C3%BC")
    }

    @Test("a list is requested ahead of its event, once, and again for a repeated event")
    func ahead() {
        var lists = AssetLists(primaryID: "p")
        let next = makeBreak("a list;b 10;c list")
        let lead = AssetLists.lead(targetDuration: target)
        #expect(lead == .seconds(18))
        #expect(AssetLists.lead(targetDuration: .seconds(2)) == .seconds(10))
        #expect(lists.due(next, in: lead + .milliseconds(1), targetDuration: target, now: .zero).isEmpty)
        #expect(lists["a"] == .unknown)
        let requests = lists.due(next, in: lead, targetDuration: target, now: .zero)
        #expect(requests.map(\.id) == ["a", "c"])
        #expect(requests.first?.url == "https://ads.example/a?_HLS_primary_id=p")
        #expect(lists["a"] == .asked && lists["b"] == .unknown)
        #expect(lists.due(next, in: .zero, targetDuration: target, now: .seconds(9)).isEmpty)
        let list = InterstitialAssetList(assets: [])
        lists.take((list, base: "x"), of: "a")
        lists.take(nil, of: "c")
        #expect(lists["a"] == .known(list, base: "x") && lists["c"] == .failed)
        #expect(lists.due(next, in: .zero, targetDuration: target, now: .seconds(9)).isEmpty)
        lists.forget(next)
        #expect(lists.due(next, in: .zero, targetDuration: target, now: .seconds(9)).count == 2)
    }

    @Test("only an event started in its middle sends its offset")
    func middle() {
        var lists = AssetLists(primaryID: "p")
        let requests = lists.due(
            makeBreak("a list;b list", startOffset: 7.5), in: .zero, targetDuration: target, now: .zero)
        #expect(requests.map { $0.url.contains("_HLS_start_offset=7.5") } == [true, false])
    }

    @Test("a list that expired before its event is requested again")
    func old() {
        var lists = AssetLists(primaryID: "p")
        let next = makeBreak("a list")
        _ = lists.due(next, in: .seconds(5), targetDuration: target, now: .zero)
        lists.take((InterstitialAssetList(assets: []), base: "x"), of: "a")
        let age = AssetLists.maximumAge
        #expect(lists.due(next, in: .seconds(5), targetDuration: target, now: age).isEmpty)
        #expect(lists.due(next, in: .zero, targetDuration: target, now: age * 2).isEmpty)
        #expect(lists.due(next, in: .seconds(5), targetDuration: target, now: age + .seconds(1)).count == 1)
        #expect(lists["a"] == .asked)
    }

    @Test("unrequested responses are dropped")
    func unasked() {
        var lists = AssetLists(primaryID: "p")
        lists.take((InterstitialAssetList(assets: []), base: "x"), of: "a")
        #expect(lists["a"] == .unknown)
        let next = makeBreak("a list")
        _ = lists.due(next, in: .zero, targetDuration: target, now: .zero)
        lists.forget(next)
        lists.take(nil, of: "a")
        #expect(lists["a"] == .unknown)
    }

    @Test("references resolve against the list's URL; invalid ones are dropped")
    func references() {
        let entries = ["ad/1.m3u8", "https://b.example/2", "https://h:port/", "/3"]
        let list = InterstitialAssetList(assets: entries.map { .init(uri: $0, duration: .seconds(1)) })
        let urls = InterstitialAsset.assets(of: list, base: "https://a.example/x/list?y").map(\.urlString)
        #expect(urls == ["https://a.example/x/ad/1.m3u8", "https://b.example/2", "https://a.example/3"])
    }
}
