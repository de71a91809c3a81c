import Testing

@testable import HLSKitLoading

@Suite("Classification of loading failures")
struct LoadingFailureTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var code: LoadingError.Code
        var status: Int?
        /// The kinds for a resource that the user names, a resource in a playlist, and a key.
        var kinds: [LoadingFailure.Kind]

        var testDescription: String { code.rawValue + (status.map { " \($0)" } ?? "") }

        init(_ code: LoadingError.Code, _ status: Int? = nil, _ kinds: LoadingFailure.Kind...) {
            self.code = code
            self.status = status
            self.kinds = kinds
        }

        var error: LoadingError {
            LoadingError(code: code, url: "https://host/x", status: status, text: "words of the library below")
        }
    }

    static let cases = [
        Case(.httpStatus, 400, .notFound, .notFound, .contentKey),
        Case(.httpStatus, 401, .notFound, .notFound, .contentKey),
        Case(.httpStatus, 403, .notFound, .notFound, .contentKey),
        Case(.httpStatus, 404, .notFound, .notFound, .contentKey),
        Case(.httpStatus, 408, .network, .network, .contentKey),
        Case(.httpStatus, 410, .notFound, .notFound, .contentKey),
        Case(.httpStatus, 429, .network, .network, .contentKey),
        Case(.httpStatus, 503, .network, .network, .contentKey),
        Case(.nameNotFound, nil, .network, .network, .contentKey),
        Case(.cannotConnect, nil, .network, .network, .contentKey),
        Case(.tlsHandshake, nil, .network, .network, .contentKey),
        Case(.untrustedCertificate, nil, .refused, .refused, .refused),
        Case(.timedOut, nil, .network, .network, .contentKey),
        Case(.connectionLost, nil, .network, .network, .contentKey),
        Case(.badContentEncoding, 200, .network, .network, .contentKey),
        Case(.tooManyRedirects, 302, .network, .network, .contentKey),
        Case(.badRange, 200, .notFound, .notFound, .contentKey),
        Case(.emptyBody, 200, .badPlaylist, .network, .contentKey),
        Case(.tooLarge, 200, .refused, .refused, .contentKey),
        Case(.refused, nil, .refused, .refused, .refused),
        Case(.badURL, nil, .invalidArgument, .refused, .contentKey),
        Case(.fileNotFound, nil, .notFound, .notFound, .contentKey),
        Case(.fileNotReadable, nil, .notFound, .notFound, .contentKey),
        Case(.badMedia, nil, .badMedia, .badMedia, .contentKey),
        Case(.application, nil, .network, .network, .contentKey),
        Case(.missingLibrary, nil, .network, .network, .contentKey),
        Case(.transport, nil, .network, .network, .contentKey),
        Case(LoadingError.Code(rawValue: "fromTheFuture"), nil, .network, .network, .contentKey),
    ]

    @Test(
        "one error has one code and one text, whatever it concerns", arguments: cases)
    func table(_ test: Case) {
        for (role, kind) in zip(LoadingFailure.Role.allCases, test.kinds) {
            let failure = LoadingFailure(test.error, as: role)
            #expect(failure.kind == kind, "\(role)")
            let error = HLSError(test.error, as: role)
            #expect(error.code.rawValue == kind.rawValue)
            #expect(error.cause == failure.cause)
            #expect(error.detail == failure.detail)
            #expect(error.statusCode == (test.error.code == .httpStatus ? test.error.status : nil))
            #expect((error.underlyingError as? HLSError)?.code == test.error.code)
        }
    }

    @Test("a player that gives up reports the code of the table", arguments: cases)
    func retries(_ test: Case) {
        let kinds: [(RetryTerms.Kind, LoadingFailure.Role)] = [
            (.firstPlaylist, .named), (.mediaPlaylist, .listed), (.reload, .listed), (.initializationSection, .listed),
            (.key, .key),
        ]
        for (kind, role) in kinds {
            var policies = RetryPolicies()
            policies.maximumRetryCount = 0
            var schedule = RetrySchedule<Int>(policies: policies)
            var decision = schedule.decide(.init(cause: .loading(test.error), kind: kind), for: 1, at: .zero)
            for hour in 1..<50 {
                guard case .retry = decision else { break }
                decision = schedule.decide(
                    .init(cause: .loading(test.error), kind: kind), for: 1, at: .seconds(hour * 3600))
            }
            #expect(decision == .fail(LoadingFailure(test.error, as: role).kind), "\(kind)")
        }
    }

    @Test("the detail is a refusing response's status, and never repeats the cause")
    func details() {
        func detail(_ code: LoadingError.Code, _ status: Int?) -> String? {
            LoadingFailure(LoadingError(code: code, url: "u", status: status, text: "text"), as: .named).detail
        }
        #expect(detail(.httpStatus, 404) == "HTTP 404")
        #expect(detail(.emptyBody, 200) == "text", "200 is no reason")
        #expect(detail(.timedOut, nil) == "text")
        #expect(detail(.fileNotFound, nil) == nil, "the line has the path")
    }
}
