import CCurl

/// Owner of a `CURL *`, its header list and its error buffer.
struct EasyHandle: ~Copyable {
    fileprivate let raw: UnsafeMutableRawPointer
    private let curl: CCurl_library
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var targetList: UnsafeMutablePointer<curl_slist>?
    private let errorBuffer: UnsafeMutablePointer<CChar>

    init(_ curl: CCurl_library) throws(CurlFailure) {
        guard let raw = curl.pointee.curl_easy_init() else { throw CurlFailure(code: CURLE_FAILED_INIT) }
        self.raw = raw
        self.curl = curl
        errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        CCurl_setopt_string(curl, raw, CURLOPT_ERRORBUFFER, errorBuffer)
    }

    deinit {
        curl.pointee.curl_easy_cleanup(raw)
        curl.pointee.curl_slist_free_all(headerList)
        curl.pointee.curl_slist_free_all(targetList)
        errorBuffer.deallocate()
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlFailure) {
        try check(CCurl_setopt_long(curl, raw, option, value))
    }

    func set(_ option: CURLoption, _ value: String) throws(CurlFailure) {
        try check(CCurl_setopt_string(curl, raw, option, value))
    }

    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(CurlFailure) {
        try check(CCurl_setopt_pointer(curl, raw, option, pointer))
    }

    func set(_ option: CURLoption, callback: curl_write_callback) throws(CurlFailure) {
        try check(CCurl_setopt_write(curl, raw, option, callback))
    }

    func setOpenSocket(_ callback: curl_opensocket_callback) throws(CurlFailure) {
        try check(CCurl_setopt_opensocket(curl, raw, callback))
    }

    func setCloseSocket(_ callback: curl_closesocket_callback) throws(CurlFailure) {
        try check(CCurl_setopt_closesocket(curl, raw, callback))
    }

    /// Sets the header fields to send, as whole lines in libcurl's notation.
    mutating func setHeader(_ lines: [String]) throws(CurlFailure) {
        headerList = try list(headerList, adding: lines)
        try check(CCurl_setopt_pointer(curl, raw, CURLOPT_HTTPHEADER, headerList))
    }

    /// The servers to connect to instead of others, in libcurl's notation `HOST:PORT:TARGET-HOST:TARGET-PORT`.
    mutating func setConnectionTargets(_ lines: [String]) throws(CurlFailure) {
        guard !lines.isEmpty else { return }
        targetList = try list(targetList, adding: lines)
        try check(CCurl_setopt_pointer(curl, raw, CURLOPT_CONNECT_TO, targetList))
    }

    private func list(
        _ list: UnsafeMutablePointer<curl_slist>?, adding lines: [String]
    ) throws(CurlFailure) -> UnsafeMutablePointer<curl_slist>? {
        var list = list
        for line in lines {
            guard let longer = curl.pointee.curl_slist_append(list, line) else {
                throw CurlFailure(code: CURLE_OUT_OF_MEMORY)
            }
            list = longer
        }
        return list
    }

    /// Makes the request a POST of these bytes, which are copied.
    func setBody(_ bytes: [UInt8]) throws(CurlFailure) {
        try set(CURLOPT_POST, 1)
        try set(CURLOPT_POSTFIELDSIZE, bytes.count)
        // `COPYPOSTFIELDS` copies the bytes and needs the size first.
        let result = bytes.withUnsafeBufferPointer {
            CCurl_setopt_pointer(curl, raw, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
        }
        try check(result)
    }

    /// Continues after a pause that the write callback requested. It may call that callback immediately.
    func resume() { _ = curl.pointee.curl_easy_pause(raw, CURLPAUSE_CONT) }

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        CCurl_getinfo_long(curl, raw, info, &value)
        return value
    }

    /// Returns a time since the start of the transfer. `info` must be a value in microseconds (`CURLINFO_…_TIME_T`).
    func time(_ info: CURLINFO) -> Duration {
        var value: curl_off_t = 0
        CCurl_getinfo_offset(curl, raw, info, &value)
        return .microseconds(Int64(value))
    }

    func text(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        CCurl_getinfo_string(curl, raw, info, &value)
        return value.map { String(cString: $0) }
    }

    /// The fields of the server's own certificate, as `name:value`. Empty if the connection was reused or certificates
    /// were not requested (`CURLOPT_CERTINFO`).
    var certificateLines: [String] {
        var entry = CCurl_certificate(curl, raw)
        var lines: [String] = []
        while let line = entry, lines.count < Self.maximumCertificateLineCount {
            if let data = line.pointee.data { lines.append(String(cString: data)) }
            entry = UnsafePointer(line.pointee.next)
        }
        return lines
    }

    private static let maximumCertificateLineCount = 100

    func failure(_ code: CURLcode) -> CurlFailure { CurlFailure(code: code, detail: String(cString: errorBuffer)) }

    private func check(_ code: CURLcode) throws(CurlFailure) {
        guard code == CURLE_OK else { throw CurlFailure(code: code) }
    }
}

/// Owner of a `CURLM *`.
struct MultiHandle: ~Copyable {
    private let raw: UnsafeMutableRawPointer
    private let curl: CCurl_library
    /// Lives until the last connection is closed, including kept-alive ones, because it closes them.
    private let watch: SocketWatch

    init?(_ curl: CCurl_library, _ watch: SocketWatch) {
        guard let raw = curl.pointee.curl_multi_init() else { return nil }
        self.raw = raw
        self.curl = curl
        self.watch = watch
    }

    deinit {
        _ = curl.pointee.curl_multi_cleanup(raw)
        withExtendedLifetime(watch) {}
    }

    func set(_ option: CURLMoption, _ value: Int) { CCurl_multi_setopt_long(curl, raw, option, value) }

    func add(_ handle: borrowing EasyHandle) -> Bool {
        curl.pointee.curl_multi_add_handle(raw, handle.raw) == CURLM_OK
    }

    func remove(_ handle: borrowing EasyHandle) {
        _ = curl.pointee.curl_multi_remove_handle(raw, handle.raw)
    }

    func perform() {
        var running: Int32 = 0
        _ = curl.pointee.curl_multi_perform(raw, &running)
    }

    /// Waits for sockets, libcurl's own timers, ``wakeUp()`` or the timeout.
    func poll(milliseconds: Int32) { _ = curl.pointee.curl_multi_poll(raw, nil, 0, milliseconds, nil) }

    /// Ends the current or the next ``poll(milliseconds:)``. This is the only method for other threads.
    func wakeUp() { _ = curl.pointee.curl_multi_wakeup(raw) }

    /// The context (`CURLOPT_PRIVATE`) and the result of the next finished transfer, or nil if there are no more.
    func nextFinished() -> (context: UnsafeMutableRawPointer?, result: CURLcode)? {
        var left: Int32 = 0
        while let message = curl.pointee.curl_multi_info_read(raw, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            var context: UnsafePointer<CChar>?
            CCurl_getinfo_string(curl, message.pointee.easy_handle, CURLINFO_PRIVATE, &context)
            return (context.map { UnsafeMutableRawPointer(mutating: $0) }, CCurl_message_result(message))
        }
        return nil
    }
}

extension MultiHandle: @unchecked Sendable {}  // all but `wakeUp` is called on its loop's thread (libcurl-thread(3))

/// Owner of a `CURLSH *` with cookies, TLS sessions and the public suffix list.
///
/// All its transfers run on one thread, so it needs no locks (libcurl-share(3)). The multi handle shares names and
/// connections.
struct ShareHandle: ~Copyable {
    private let raw: UnsafeMutableRawPointer
    private let curl: CCurl_library

    init?(_ curl: CCurl_library) {
        guard let raw = curl.pointee.curl_share_init() else { return nil }
        self.raw = raw
        self.curl = curl
        for data in [CURL_LOCK_DATA_COOKIE, CURL_LOCK_DATA_SSL_SESSION, CURL_LOCK_DATA_PSL] {
            CCurl_share_lock_data(curl, raw, data)
        }
    }

    deinit { _ = curl.pointee.curl_share_cleanup(raw) }

    func makeHandle() throws(CurlFailure) -> EasyHandle { try EasyHandle(curl) }

    func attach(to handle: borrowing EasyHandle) throws(CurlFailure) { try handle.set(CURLOPT_SHARE, pointer: raw) }

    /// Adds the cookies of a file to the shared cookies. Call it only once because it would undo later changes by
    /// servers.
    func readCookies(_ file: String) throws(CurlFailure) {
        let handle = try makeHandle()
        try attach(to: handle)
        try handle.set(CURLOPT_COOKIEFILE, file)
        try handle.set(CURLOPT_COOKIELIST, "RELOAD")
    }
}
