import HLSKitPlaylist
import Testing

@testable import HLSKitNetwork

@Suite("Certificate dates")
struct CertificateDateTests {
    @Test(
        "the expiry date is read as OpenSSL prints it",
        arguments: [
            (["Subject:CN = a", "Expire date:Nov  7 12:00:05 2026 GMT"], 1_794_052_805),
            (["Expire date:Nov 27 00:00:00 2031 GMT"], 1_953_504_000), (["Expire date:"], nil),
            (["Expire date:2026-11-07 12:00:05 GMT"], nil), (["Expire date:Nov 7 12:00:05 2026"], nil),
            (["Start date:Nov  7 12:00:05 2026 GMT"], nil), ([], nil),
        ] as [([String], Int64?)])
    func dates(lines: [String], seconds: Int64?) {
        #expect(CertificateDate.expiration(in: lines)?.seconds == seconds)
    }
}
