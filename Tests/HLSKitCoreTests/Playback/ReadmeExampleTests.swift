import HLSKitCore
import TestSupport
import Testing

@Suite("README example", .timeLimit(.minutes(10)))
struct ReadmeExampleTests {
    /// Keep in sync with README.md, "Library".
    private func example(url: String, path: String) async throws -> [TimeControlStatus] {
        var statuses: [TimeControlStatus] = []
        let item = PlayerItem(urlString: url)
        item.forwardPlaybackEndTime = MediaTime(value: 1, timescale: 1)
        item.add(try OutputFormat.framemd5.makeWriter(path: path))
        let player = Player()
        let events = player.events()
        player.play()  // before the item exists, so that nothing unneeded is prepared
        try player.replaceCurrentItem(with: item)
        for await event in events {
            if case .timeControl(let change) = event.kind { statuses.append(change.new) }
            if case .didPlayToEnd = event.kind { break }
            if case .itemStatusChanged(.failed) = event.kind { break }
        }
        await player.close()
        return statuses
    }

    @Test("the example plays a stream and reports waiting and playing")
    func plays() async throws {
        let folder = try ScratchFolder()
        try SampleMedia.copy(to: folder, as: "sample")
        let statuses = try await example(
            url: "file://" + folder.path + "/sample/master.m3u8", path: folder.path + "/frames.md5")
        #expect(statuses.first == .waitingToPlayAtSpecifiedRate)
        #expect(statuses.contains(.playing))
        #expect(statuses.last == .playing, "the end is told before the player pauses")
    }

    @Test("the example ends if there is nothing to play")
    func fails() async throws {
        let folder = try ScratchFolder()
        let statuses = try await example(
            url: "file://" + folder.path + "/nothing.m3u8", path: folder.path + "/frames.md5")
        #expect(!statuses.contains(.playing))
    }
}
