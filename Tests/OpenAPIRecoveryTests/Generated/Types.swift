#if OpenAPI
import OpenAPIRuntime

enum Components {
    enum Schemas {
        /// - Remark: `#/components/schemas/Note`.
        struct Note: Codable, Hashable, Sendable {
            var text: Swift.String
        }
    }
}

enum Operations {
    /// - Remark: HTTP `GET /notes/{id}`.
    enum getNote {
        static let id: Swift.String = "getNote"
        struct Input: Sendable, Hashable {
            struct Path: Sendable, Hashable {
                var id: Swift.String
            }
            var path: Path
        }
        enum Output: Sendable, Hashable {
            struct Ok: Sendable, Hashable {
                enum Body: Sendable, Hashable {
                    case json(Components.Schemas.Note)
                }
                var body: Body
            }
            case ok(Ok)
            case notFound
            case undocumented(statusCode: Swift.Int, OpenAPIRuntime.UndocumentedPayload)
        }
    }

    /// - Remark: HTTP `POST /notes`.
    enum createNote {
        static let id: Swift.String = "createNote"
        struct Input: Sendable, Hashable {
            enum Body: Sendable, Hashable {
                case json(Components.Schemas.Note)
            }
            var body: Body
        }
        enum Output: Sendable, Hashable {
            case created
            case undocumented(statusCode: Swift.Int, OpenAPIRuntime.UndocumentedPayload)
        }
    }

    /// - Remark: HTTP `POST /imports`.
    enum importNotes {
        static let id: Swift.String = "importNotes"
        typealias Input = Operations.BinaryInput
        typealias Output = Operations.BinaryOutput
    }

    /// - Remark: HTTP `PUT /exports`.
    enum exportNotes {
        static let id: Swift.String = "exportNotes"
        typealias Input = Operations.BinaryInput
        typealias Output = Operations.BinaryOutput
    }

    struct BinaryInput: Sendable, Hashable {
        enum Body: Sendable, Hashable {
            case binary(OpenAPIRuntime.HTTPBody)
        }
        var body: Body
    }

    enum BinaryOutput: Sendable, Hashable {
        struct Ok: Sendable, Hashable {
            enum Body: Sendable, Hashable {
                case binary(OpenAPIRuntime.HTTPBody)
            }
            var body: Body
        }
        case ok(Ok)
        case undocumented(statusCode: Swift.Int, OpenAPIRuntime.UndocumentedPayload)
    }
}
#endif
