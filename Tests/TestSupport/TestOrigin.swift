import Foundation
import Synchronization

/// A folder that Debian's nginx serves on the loopback interface. One process uses one nginx and one certificate
/// authority.
package final class TestOrigin: Sendable {
    package let root: ScratchFolder
    /// `http://127.0.0.1:PORT/N`: HTTP/1.1, gzip for playlists.
    package let plain: String
    /// `https://localhost:PORT/N`: HTTP/2 and HTTP/1.1.
    package let secure: String
    package let caFile: String
    private let server: WebServer
    private let path: String

    package static let nginx = "/usr/sbin/nginx"
    package static let isInstalled = Tool.exists(nginx)

    /// The origin for tests that only read `small.m3u8`, `segment.ts` (``segment``) and `empty.ts`.
    package static func shared() throws -> TestOrigin {
        try sharedOrigin.withLock { origin in
            if let origin { return origin }
            let new = try TestOrigin()
            try new.root.write(playlist, to: "small.m3u8")
            try new.root.write(segment, to: "segment.ts")
            try new.root.write([], to: "empty.ts")
            origin = new
            // Static members are never released, so the folders would remain after the process.
            atexit { TestOrigin.sharedOrigin.withLock { $0 = nil } }
            return new
        }
    }

    private static let sharedOrigin = Mutex<TestOrigin?>(nil)
    private static let count = Atomic(0)

    package static let playlist = Array(
        ("#EXTM3U\n" + String(repeating: "#EXTINF:6,\nsegment.ts\n", count: 100)).utf8)

    /// The content of `segment.ts`. Its bytes vary, so that tests notice data at a wrong offset.
    package static let segment: [UInt8] = (0..<1 << 20).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }

    package init() throws {
        server = try WebServer.shared()
        root = try ScratchFolder()
        path = "/\(Self.count.add(1, ordering: .relaxed).newValue)"
        plain = server.plain + path
        secure = server.secure + path
        caFile = server.caFile
        try FileManager.default.createSymbolicLink(
            atPath: server.root.path + path, withDestinationPath: root.path)
    }

    deinit { try? FileManager.default.removeItem(atPath: server.root.path + path) }

    /// The paths requested so far, relative to the root, in the order in which the responses ended.
    package var requestedPaths: [String] {
        server.requestedPaths.filter { $0.hasPrefix(path + "/") }.map { String($0.dropFirst(path.count)) }
    }
}

/// An nginx on free ports with its own certificate authority. It ends with the test process, even after a crash.
private final class WebServer: Sendable {
    let root: ScratchFolder
    let plain: String
    let secure: String
    let caFile: String
    private let folder: ScratchFolder
    private let child: Child

    static func shared() throws -> WebServer {
        try sharedServer.withLock { server in
            if let server { return server }
            let new = try WebServer()
            server = new
            atexit { WebServer.sharedServer.withLock { $0 = nil } }
            return new
        }
    }

    private static let sharedServer = Mutex<WebServer?>(nil)

    private init() throws {
        root = try ScratchFolder()
        folder = try ScratchFolder()
        caFile = folder.path + "/ca.pem"
        try Self.makeCertificates(in: folder)
        var lastFailure = "no port"
        // Another process may take a port between its choice and its use.
        for _ in 0..<5 {
            let (plainPort, securePort) = (try Self.freePort(), try Self.freePort())
            try folder.write(Array(Self.configuration(root.path, plainPort, securePort).utf8), to: "nginx.conf")
            let child = try Self.launch(in: folder)
            if Self.answers(plainPort, child), Self.answers(securePort, child) {
                self.child = child
                plain = "http://127.0.0.1:\(plainPort)"
                secure = "https://localhost:\(securePort)"
                return
            }
            child.end()
            lastFailure = (try? String(contentsOfFile: folder.path + "/error.log", encoding: .utf8)) ?? "no log"
        }
        throw Tool.Failure(description: "nginx does not start: \(lastFailure)")
    }

    deinit { child.end() }

    var requestedPaths: [String] {
        ((try? String(contentsOfFile: folder.path + "/access.log", encoding: .utf8)) ?? "").split(separator: "\n")
            .map(String.init)
    }

    private struct Child: Sendable {
        let id: pid_t
        let leash: Int32

        var isRunning: Bool {
            var status: Int32 = 0
            return waitpid(id, &status, WNOHANG) == 0
        }

        func end() {
            close(leash)
            var status: Int32 = 0
            waitpid(id, &status, 0)
        }
    }

    /// Starts nginx under a shell that kills it when this process closes its end of the socket pair (the leash).
    private static func launch(in folder: ScratchFolder) throws -> Child {
        var ends: [Int32] = [-1, -1]
        // CLOEXEC is set at creation. A process started before a later fcntl would inherit the leash, and nginx would
        // never end.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        defer { close(ends[0]) }
        let script = """
            exec 3<&0
            \(TestOrigin.nginx) -e error.log -p . -c nginx.conf < /dev/null 3<&- & pid=$!
            { read -r line; kill $pid; } <&3 & reader=$!
            wait $pid; kill $reader
            """
        let id = try Tool.spawn(
            ["/bin/sh", "-c", script], in: folder.path, input: ends[0], output: "/dev/null", errors: "/dev/null")
        return Child(id: id, leash: ends[1])
    }

    private static func makeCertificates(in folder: ScratchFolder) throws {
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        try Tool.run(
            ["openssl", "req", "-x509", "-subj", "/CN=HLSKit test CA", "-keyout", "ca.key", "-out", "ca.pem"] + key,
            in: folder.path)
        try Tool.run(
            ["openssl", "req", "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr"]
                + key.dropLast(2),
            in: folder.path)
        try folder.write(Array("subjectAltName=DNS:localhost,IP:127.0.0.1\n".utf8), to: "names")
        try Tool.run(
            [
                "openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-extfile", "names", "-days", "2", "-out", "server.pem",
            ], in: folder.path)
    }

    private static func configuration(
        _ root: String, _ plainPort: Int, _ securePort: Int
    ) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        events { worker_connections 1024; }
        http {
            log_format paths "$uri";
            access_log access.log paths;
            types { application/vnd.apple.mpegurl m3u8; video/mp2t ts; }
            client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            root \(root);
            gzip on; gzip_min_length 1; gzip_types application/vnd.apple.mpegurl;
            server {
                listen 127.0.0.1:\(plainPort);
                location ~ ^(.*)/away$ { return 302 https://localhost:\(securePort)$1/small.m3u8; }
            }
            server {
                listen 127.0.0.1:\(securePort) ssl http2;
                ssl_certificate server.pem; ssl_certificate_key server.key;
                ssl_verify_client optional; ssl_client_certificate ca.pem;
                location ~ /who$ { add_header X-Client "$ssl_client_s_dn"; return 200 "who"; }
                location ~ ^(.*)/down$ { return 302 http://127.0.0.1:\(plainPort)$1/small.m3u8; }
            }
        }
        """
    }

    private static func freePort() throws -> Int {
        let listener = try LoopbackListener()
        defer { listener.close() }
        return listener.port
    }

    private static func answers(_ port: Int, _ child: Child) -> Bool {
        let deadline = DispatchTime.now() + .seconds(10)
        while DispatchTime.now() < deadline, child.isRunning {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = LoopbackListener.address(port: port)
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if result == 0 { return true }
            usleep(2000)
        }
        return false
    }
}
