import HLSGetKit
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

    private func memory(_ folder: ScratchFolder, _ routes: String = home, now: Int = 1_000_000) throws -> LinkMemory {
        try #require(LinkMemory(environment: ["XDG_CACHE_HOME": folder.path], routes: routes, now: now))
    }

    @Test("a host has its last throughput for a day, in the same network only")
    func remembers() throws {
        let folder = try ScratchFolder()
        let url = "https://cdn.example.com/a/master.m3u8?x=1"
        try memory(folder).keep(8_000_000, to: url)
        try memory(folder).keep(5_000_000, to: "https://other.example.com/")
        try memory(folder, now: 1_000_010).keep(9_000_000.4, to: "https://CDN.example.com/b.m3u8")
        #expect(try memory(folder).bitsPerSecond(to: url) == nil)
        #expect(try memory(folder, now: 1_000_011).bitsPerSecond(to: url) == 9_000_000)
        #expect(try memory(folder, now: 1_000_011).bitsPerSecond(to: "https://other.example.com:443/x") == 5_000_000)
        #expect(try memory(folder, now: 1_000_011).bitsPerSecond(to: "http://cdn.example.com/a") == nil)
        #expect(try memory(folder, Self.office, now: 1_000_011).bitsPerSecond(to: url) == nil)
        #expect(try memory(folder, now: 1_090_000).bitsPerSecond(to: url) == nil)
    }

    @Test(
        "files and servers on this machine have no memory",
        arguments: [
            "file:///a/b.m3u8", "http://localhost:8080/a", "http://127.0.0.1/a", "http://[::1]:81/a", "nonsense",
        ])
    func local(url: String) throws {
        let folder = try ScratchFolder()
        try memory(folder).keep(1e6, to: url)
        #expect(try memory(folder).bitsPerSecond(to: url) == nil)
    }

    @Test("a damaged file is read as far as it can be, and written again")
    func damaged() throws {
        let folder = try ScratchFolder()
        let line = "1000000 7000000 eth0/0100A8C0 a.example:443"
        _ = try folder.write(Array("rubbish\n\u{0}\n\(line)\n1 2".utf8), to: "hlsget/links")
        #expect(try memory(folder).bitsPerSecond(to: "https://a.example/") == 7_000_000)
        try memory(folder).keep(1e6, to: "https://b.example/")
        #expect(try memory(folder).bitsPerSecond(to: "https://a.example/") == 7_000_000)
        #expect(try memory(folder).bitsPerSecond(to: "https://b.example/") == 1_000_000)
    }

    @Test("without a default route or a home there is no memory")
    func absent() {
        #expect(LinkMemory(environment: ["HOME": "/h"], routes: "Iface\n", now: 0) == nil)
        #expect(LinkMemory(environment: [:], routes: Self.home, now: 0) == nil)
    }
}
