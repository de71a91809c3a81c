import TestSupport
import Testing

@Suite("Libraries loaded at start", .ownThread, .timeLimit(.minutes(10)))
struct StartupTests {
    @Test(
        "Q20: neither FFmpeg's libraries nor libcurl nor libcrypto are linked",
        .enabled(if: Tool.exists("/usr/bin/readelf")))
    func linked() throws {
        let text = String(
            decoding: try Tool.run(["readelf", "--dynamic", Command.productFolder + "/hlsget"]), as: UTF8.self)
        let needed = text.split(separator: "\n").filter { $0.contains("(NEEDED)") }
        #expect(needed.contains { $0.contains("[libc.so.6]") })
        for name in ["libav", "libsw", "libcurl", "libcrypto", "libass", "libSDL2"] {
            // Swift's own libraries have the same prefix if they are linked dynamically.
            let found = needed.filter { $0.contains("[\(name)") && !$0.contains("[libswift") }
            #expect(found.isEmpty, "\(name)")
        }
    }
}
