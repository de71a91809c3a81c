import HLSGetKit
import HLSKitCore
import HLSKitPlaylist
import HLSKitSelection
import TestSupport
import Testing

@Suite("throughput that is remembered between runs")
struct LinkMemoryTests {
    private static let home = """
        Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask
        wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000
        eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000
        eth0\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF
        """
    private static let office = home.replacing("0100A8C0", with: "0100000A")

    private func memory(_ folder: ScratchFolder, _ routes: String = home) throws -> LinkMemory {
        try #require(LinkMemory(environment: ["XDG_CACHE_HOME": folder.path], routes: routes))
    }

    @Test("a host's throughput is known to later runs in the same network only")
    func remembers() throws {
        let folder = try ScratchFolder()
        let now = PlaylistDate(seconds: 1_000_000)
        let history = try memory(folder).history
        #expect(history.estimates.entries.isEmpty)
        history.note(9_000_000, host: "cdn.example.com", at: now)
        try memory(folder).keep(history)
        let later = try memory(folder).history.estimates
        #expect(later.bitsPerSecond(host: "cdn.example.com", at: now) == 9_000_000)
        #expect(try memory(folder, Self.office).history.estimates.entries.isEmpty)
    }

    @Test("files and servers on this machine are not remembered")
    func remote() {
        for url in ["file:///a/b.m3u8", "http://localhost:8080/a", "http://127.0.0.1/a", "http://[::1]:81/a", "x"] {
            #expect(!LinkMemory.isRemote(url))
        }
        #expect(LinkMemory.isRemote("https://cdn.example.com/a") && LinkMemory.isRemote("http://192.168.0.7/a"))
    }

    @Test("a damaged file counts as empty and is replaced")
    func damaged() throws {
        let folder = try ScratchFolder()
        _ = try folder.write(Array("rubbish".utf8), to: "hlsget/links/eth0-0100A8C0.json")
        let history = try memory(folder).history
        #expect(history.estimates.entries.isEmpty)
        history.note(1e6, host: "h", at: PlaylistDate(seconds: 5))
        try memory(folder).keep(history)
        #expect(try memory(folder).history.estimates.entries.count == 1)
    }

    @Test("without a default route or a home there is no memory")
    func absent() {
        #expect(LinkMemory(environment: ["HOME": "/h"], routes: "Iface\n") == nil)
        #expect(LinkMemory(environment: [:], routes: Self.home) == nil)
    }
}
